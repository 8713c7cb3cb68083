// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "obs-lua", path: ".."),
    .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
  ],
  targets: [
    .target(
      name: "CPeer", linkerSettings: [.linkedLibrary("lua5.4", .when(platforms: [.linux]))]),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CPeer",
        .product(name: "Lua", package: "obs-lua"),
        .product(name: "LuaObservables", package: "obs-lua"),
        .product(name: "Observables", package: "obs-lua"),
        .product(name: "OpenCombine", package: "OpenCombine"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
      ]),
  ]
)
