// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

// Functions of glibc beyond the standards.
let gnu: [CSetting] = [.define("_GNU_SOURCE", .when(platforms: [.linux]))]

let grdb = ["GRDB", "GRDBSQLite"].map { product in
  Target.Dependency.product(
    name: product, package: "GRDB.swift", condition: .when(traits: ["Records"]))
}

func syntax(_ product: String) -> Target.Dependency {
  .product(name: product, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}

let package = Package(
  name: "obs-lua",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Observables", targets: ["Observables"]),
    .library(name: "ObservableModels", targets: ["ObservableModels"]),
    .library(name: "ObservableRecords", targets: ["ObservableRecords"]),
    .library(name: "TreeMirrors", targets: ["TreeMirrors"]),
    .library(name: "ProtocolObservers", targets: ["ProtocolObservers"]),
    .library(name: "Lua", targets: ["Lua"]),
    .library(name: "LuaObservables", targets: ["LuaObservables"]),
    .library(name: "LuaRecords", targets: ["LuaRecords"]),
    .library(name: "LuaFoundation", targets: ["LuaFoundation"]),
    .library(name: "LuaInspector", targets: ["LuaInspector"]),
    .library(name: "ScriptFixtures", targets: ["ScriptFixtures"]),
    .executable(name: "obs-lua", targets: ["obs-lua"]),
  ],
  traits: [
    .trait(name: "Macros", description: "Has ObservableModels, whose macros need swift-syntax."),
    .trait(
      name: "Records", description: "Has ObservableRecords, whose rows need GRDB and SQLite.",
      enabledTraits: ["Macros"]),
  ],
  dependencies: [
    // Each is fetched only if its trait is on: for the macros, and for the records.
    .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"700.0.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // The C library of the system, under one name.
    .target(name: "LibC", swiftSettings: strict),
    .target(
      name: "Observables", dependencies: ["CMainQueue", "LibC"], swiftSettings: strict),
    // Swift's runtime loads Dispatch, too, but its symbols are for those only that link it.
    .target(
      name: "CMainQueue", path: "CMainQueue", cSettings: gnu,
      linkerSettings: [.linkedLibrary("dispatch", .when(platforms: [.linux]))]),
    .target(
      name: "ProtocolObservers", dependencies: ["Observables", "LibC"], swiftSettings: strict),
    // It loads hiredis when a mirror is made.
    .target(name: "CRedis", path: "CRedis", cSettings: gnu),
    .target(
      name: "TreeMirrors",
      dependencies: ["CRedis", "Observables", "LibC"], swiftSettings: strict),
    .target(
      name: "ObservableModels",
      dependencies: [
        "Observables",
        .target(name: "ObservableModelsMacros", condition: .when(traits: ["Macros"])),
      ], swiftSettings: strict),
    .target(
      name: "ObservableRecords",
      dependencies: ["Observables", "ObservableModels", "LibC"] + grdb, swiftSettings: strict),
    .macro(
      name: "ObservableModelsMacros",
      dependencies: [
        syntax("SwiftCompilerPlugin"),
        syntax("SwiftDiagnostics"),
        syntax("SwiftParser"),
        syntax("SwiftSyntax"),
        syntax("SwiftSyntaxBuilder"),
        syntax("SwiftSyntaxMacros"),
      ], swiftSettings: strict),
    // Gives CLua the flags of pkg-config. Where that is not installed, Debian's paths are used.
    .systemLibrary(
      name: "CLiblua", path: "CLiblua", pkgConfig: "lua5.4",
      providers: [.brew(["lua@5.4"]), .apt(["liblua5.4-dev"])]),
    .target(
      name: "CLua", dependencies: ["CLiblua"], path: "CLua", cSettings: gnu,
      linkerSettings: [.linkedLibrary("lua5.4", .when(platforms: [.linux]))]),
    .target(name: "CTables", dependencies: ["CLua"], path: "CTables", cSettings: gnu),
    .target(
      name: "CSandbox", dependencies: ["CTables", "CLua"], path: "CSandbox", cSettings: gnu),
    // What the program alone needs.
    .target(
      name: "CCommandLine", dependencies: ["CTables", "CLua"], path: "CCommandLine",
      cSettings: gnu),
    .target(name: "CReport", path: "CReport", exclude: ["Page"]),
    // The files in Lua, which lie beside the files in Swift that run them.
    .target(name: "CScripts", dependencies: ["CLua"], path: "CScripts"),
    .target(
      name: "Lua", dependencies: ["CLua", "CTables", "CSandbox", "LibC"], swiftSettings: strict),
    .target(name: "LuaFoundation", dependencies: ["Lua"], swiftSettings: strict),
    .target(
      name: "LuaObservables",
      dependencies: [
        "Lua", "Observables", "TreeMirrors", "CLua", "CScripts", "CTables", "CSandbox",
        "LibC",
      ],
      exclude: [
        "Completion/completion.lua", "Debugging/debugprompt.lua", "Outside/io.lua",
        "Outside/luv.lua", "Outside/luvloop.lua", "Prelude", "Printing/printing.lua",
      ], swiftSettings: strict),
    .target(
      name: "LuaInspector",
      dependencies: ["LuaObservables", "Lua", "Observables", "CReport", "LibC"],
      swiftSettings: strict),
    .target(
      name: "LuaRecords",
      dependencies: ["LuaObservables", "Lua", "ObservableRecords", "Observables"],
      swiftSettings: strict),
    // Without Foundation, for the program's test runner, and for `ScriptFixtures`.
    .target(
      name: "FixtureChecks", dependencies: ["LuaObservables", "Lua", "Observables"],
      exclude: ["Checks"], swiftSettings: strict),
    .target(
      name: "ScriptFixtures", dependencies: ["FixtureChecks", "LuaObservables"],
      swiftSettings: strict),
    .executableTarget(
      name: "obs-lua",
      dependencies: [
        "FixtureChecks", "LuaInspector", "LuaObservables", "Lua", "Observables", "CLua",
        "CSandbox", "CCommandLine", "LibC",
      ],
      exclude: ["Recordings/recordings.lua", "Testing/coverage.lua"], swiftSettings: strict),
    .target(
      name: "TestSupport", dependencies: ["LibC"], path: "Tests/TestSupport",
      swiftSettings: strict),
    // A part of TreeMirrorsTests. It is also a program, because many schedules need optimized code.
    .executableTarget(
      name: "mirror-simulation",
      dependencies: ["TreeMirrors", "LuaObservables", "Lua", "Observables", "TestSupport"],
      path: "Tests/MirrorSimulation", exclude: ["Scripts"], swiftSettings: strict),
    // A part of LuaObservablesTests. It is also a program, for the same reason.
    .executableTarget(
      name: "sandbox-programs",
      dependencies: ["LuaObservables", "Lua", "Observables", "TestSupport"],
      path: "Tests/SandboxPrograms", swiftSettings: strict),
    .testTarget(
      name: "ObservablesTests",
      dependencies: ["Observables", "TestSupport", "LibC"],
      swiftSettings: strict),
    .testTarget(
      name: "ProtocolObserversTests",
      dependencies: ["ProtocolObservers", "Observables", "TestSupport", "LibC"],
      swiftSettings: strict),
    // The tests of the macros are a package of their own, Tests/Macros.
    .testTarget(
      name: "ObservableModelsTests", dependencies: ["ObservableModels", "Observables"],
      swiftSettings: strict),
    .testTarget(name: "LuaTests", dependencies: ["Lua", "CLua", "LibC"], swiftSettings: strict),
    .testTarget(
      name: "LuaFoundationTests",
      dependencies: ["LuaFoundation", "LuaObservables", "Lua", "Observables"],
      swiftSettings: strict),
    .testTarget(
      name: "LuaObservablesTests",
      dependencies: [
        "sandbox-programs", "ScriptFixtures", "LuaInspector", "LuaObservables", "Lua",
        "Observables", "CLua", "CTables", "TestSupport", "LibC",
      ],
      exclude: ["Scripts"], swiftSettings: strict),
    .testTarget(
      name: "TreeMirrorsTests",
      dependencies: [
        "mirror-simulation", "TreeMirrors", "LuaObservables", "Lua", "Observables", "TestSupport",
        "LibC",
      ], swiftSettings: strict),
    .testTarget(
      name: "ScriptFixturesTests",
      dependencies: ["ScriptFixtures", "LuaObservables", "Observables"],
      exclude: ["Fixtures", "Failing"], swiftSettings: strict),
    .testTarget(
      name: "CommandLineTests", dependencies: ["LibC"], swiftSettings: strict),
  ]
)
