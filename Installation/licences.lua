-- The licences of all that obs-lua contains, links or can use, as an SPDX 2.3 document:
-- licences.lua VERSIONS FOUND >licences.spdx
--
-- VERSIONS is a file with lines such as "Swift 6.3.1", and "created" with the date of the document.
-- FOUND is a file with a line for each thing that a build really uses: "static libswiftCore.a",
-- "dynamic libm.so.6", "loaded libedit.so", "package GRDB.swift", or "file X.min.js". Fails
-- if one of them has no entry here, or if an entry names a thing that is not used. Scripts/licences
-- makes both files.

local swift = "Apache-2.0 WITH Swift-exception"
local apple = "Copyright (c) Apple Inc. and the Swift project authors"

-- `parts` are lines of FOUND. `relation` is the relationship of SPDX to the program: from the
-- program, or to it if the name ends in "_OF".
local entries = {
  {
    name = "Swift", licence = swift, copyright = apple, relation = "STATIC_LINK",
    location = "https://github.com/swiftlang/swift",
    comment = "The runtime and the standard library.",
    parts = {
      "static libswiftCore.a", "static libswiftGlibc.a", "static libswiftSynchronization.a",
      "static libswift_Concurrency.a", "static libswift_RegexParser.a",
      "static libswift_StringProcessing.a",
    },
  },
  {
    name = "LLVM", licence = "Apache-2.0 WITH LLVM-exception", relation = "STATIC_LINK",
    copyright = "Copyright (c) 2003-2019 University of Illinois at Urbana-Champaign",
    location = "https://github.com/swiftlang/llvm-project",
    comment = "Containers that Swift's runtime includes, in libswiftCore.a.", parts = {},
  },
  {
    name = "Unicode-Character-Database", licence = "Unicode-3.0", relation = "STATIC_LINK",
    copyright = "Copyright (c) 1991-2025 Unicode, Inc.",
    location = "https://www.unicode.org/ucd/",
    comment = "Tables that Swift's standard library makes of it, in libswiftCore.a.", parts = {},
  },
  {
    name = "swift-corelibs-libdispatch", licence = swift, copyright = apple,
    relation = "STATIC_LINK", location = "https://github.com/swiftlang/swift-corelibs-libdispatch",
    parts = { "static libdispatch.a", "static libBlocksRuntime.a" },
  },
  {
    name = "dagre", version = "0.8.5", licence = "MIT", relation = "CONTAINS",
    copyright = "Copyright (c) 2012-2014 Chris Pettitt; OpenJS Foundation and other contributors",
    location = "https://github.com/dagrejs/dagre",
    comment = "With graphlib and parts of lodash 4, in the pages of recordings.",
    parts = { "file CReport/Page/dagre.min.js", "file CReport/Page/dagre.LICENSE" },
  },
  {
    name = "Lua", licence = "MIT", copyright = "Copyright (C) 1994-2025 Lua.org, PUC-Rio",
    relation = "DYNAMIC_LINK", location = "https://www.lua.org/ftp/",
    parts = { "dynamic liblua5.4.so.0" },
  },
  {
    name = "glibc", licence = "LGPL-2.1-or-later",
    copyright = "Copyright (C) Free Software Foundation, Inc.", relation = "DYNAMIC_LINK",
    location = "https://ftp.gnu.org/gnu/glibc/",
    comment = "libc_nonshared.a has the exception that linking it does not make a program LGPL.",
    parts = { "dynamic libc.so.6", "dynamic libm.so.6", "dynamic ld-linux" },
  },
  {
    name = "libgcc", licence = "GPL-3.0-or-later WITH GCC-exception-3.1",
    copyright = "Copyright (C) Free Software Foundation, Inc.", relation = "DYNAMIC_LINK",
    location = "https://ftp.gnu.org/gnu/gcc/", parts = { "dynamic libgcc_s.so.1" },
  },
  {
    name = "libstdc++", licence = "GPL-3.0-or-later WITH GCC-exception-3.1",
    copyright = "Copyright (C) Free Software Foundation, Inc.", relation = "STATIC_LINK",
    location = "https://ftp.gnu.org/gnu/gcc/",
    comment = "With the exception that a program may contain it under any licence.",
    parts = { "static libstdc++.a" },
  },
  {
    name = "hiredis", licence = "BSD-3-Clause", relation = "OPTIONAL_DEPENDENCY_OF",
    copyright = "Copyright (c) Salvatore Sanfilippo, Pieter Noordhuis, and others",
    location = "https://github.com/redis/hiredis",
    comment = "Loaded when a program makes a mirror.",
    parts = { "loaded libhiredis.so", "loaded libhiredis_ssl.so" },
  },
  {
    name = "libedit", licence = "BSD-3-Clause", relation = "OPTIONAL_DEPENDENCY_OF",
    copyright = "Copyright (c) The NetBSD Foundation, Inc., and "
      .. "The Regents of the University of California",
    location = "https://www.thrysoee.dk/editline/",
    comment = "Loaded by the prompt in a terminal if it is installed.",
    parts = { "loaded libedit.so" },
  },
  {
    name = "readline", licence = "GPL-3.0-or-later", relation = "OPTIONAL_DEPENDENCY_OF",
    copyright = "Copyright (C) Free Software Foundation, Inc.",
    location = "https://ftp.gnu.org/gnu/readline/",
    comment = "Loaded by the prompt in a terminal if it is installed.",
    parts = { "loaded libreadline.so" },
  },
  {
    name = "swift-syntax", licence = swift, copyright = apple, relation = "BUILD_DEPENDENCY_OF",
    location = "https://github.com/swiftlang/swift-syntax",
    comment = "Only for Swift packages with the trait Macros. It is not in the program.",
    parts = { "package swift-syntax" },
  },
  {
    name = "GRDB.swift", licence = "MIT", copyright = "Copyright (C) 2015-2025 Gwendal Roué",
    relation = "OPTIONAL_DEPENDENCY_OF", location = "https://github.com/groue/GRDB.swift",
    comment = "Only for Swift packages with the trait Records. It is not in the program.",
    parts = { "package GRDB.swift" },
  },
  {
    name = "SQLite", licence = "blessing", copyright = "NONE", relation = "OPTIONAL_DEPENDENCY_OF",
    location = "https://www.sqlite.org/",
    comment = "GRDB links it dynamically. It is not in the program.", parts = {},
  },
  {
    name = "Lua-tests", version = "5.4.4", licence = "MIT", relation = "TEST_DEPENDENCY_OF",
    copyright = "Copyright (C) 1994-2022 Lua.org, PUC-Rio", location = "https://www.lua.org/tests/",
    comment = "Parts of Lua's test suite, in Tests/CLuaTests/suite.",
    parts = { "file Tests/CLuaTests/suite/LICENSE" },
  },
}

local versions, found = {}, {}
for line in io.lines(arg[1]) do
  local name, version = line:match "^(%S+) (%S+)$"
  if name then versions[name] = version end
end
for line in io.lines(arg[2]) do found[line] = true end

local faults = 0

local function fault(...)
  faults = faults + 1
  io.stderr:write("✘ Installation/licences.lua: ", string.format(...), "\n")
end

local named = {}
for _, entry in ipairs(entries) do
  for _, part in ipairs(entry.parts) do
    named[part] = true
    if not found[part] then fault("%s: '%s' is not used", entry.name, part) end
  end
end
for part in pairs(found) do
  if not named[part] then fault("'%s' is used, and no entry names it", part) end
end
for _, name in ipairs { "created", "obs-lua", "Swift" } do
  if not versions[name] then fault("the version of %s is not known", name) end
end
if faults > 0 then os.exit(1) end

local function id(name)
  return "SPDXRef-" .. name:gsub("[^%w.-]", "-")
end

local function package(name, version, licence, copyright, location, comment)
  print(("\nPackageName: %s\nSPDXID: %s"):format(name, id(name)))
  if version then print("PackageVersion: " .. version) end
  print("PackageDownloadLocation: " .. location)
  print "FilesAnalyzed: false"
  print("PackageLicenseConcluded: " .. licence)
  print("PackageLicenseDeclared: " .. licence)
  print(copyright == "NONE" and "PackageCopyrightText: NONE"
    or ("PackageCopyrightText: <text>%s</text>"):format(copyright))
  if comment then print(("PackageComment: <text>%s</text>"):format(comment)) end
end

local version = versions["obs-lua"]
print(([[
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: obs-lua-%s
DocumentNamespace: https://obs-lua.invalid/spdx/obs-lua-%s
Creator: Tool: Scripts/licences
Created: %s]]):format(version, version, versions.created))
package("obs-lua", version, "MIT", "Copyright (c) 2026 The obs-lua authors", "NOASSERTION")
for _, entry in ipairs(entries) do
  package(entry.name, entry.version or versions[entry.name], entry.licence, entry.copyright,
    entry.location, entry.comment)
end
print "\nRelationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-obs-lua"
for _, entry in ipairs(entries) do
  local from, to = "SPDXRef-obs-lua", id(entry.name)
  if entry.relation:find "_OF$" then from, to = to, from end
  print(("Relationship: %s %s %s"):format(from, entry.relation, to))
end
