// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

// A separate package, as nothing else here needs GRDB.
let package = Package(
  name: "record-tests",
  dependencies: [.package(name: "obs-lua", path: "../..", traits: ["Records"])],
  targets: [
    // The program that the tests kill.
    .executableTarget(
      name: "victim", dependencies: [.product(name: "ObservableRecords", package: "obs-lua")],
      swiftSettings: strict),
    .testTarget(
      name: "ObservableRecordsTests",
      dependencies: ["victim", .product(name: "ObservableRecords", package: "obs-lua")],
      swiftSettings: strict),
    .testTarget(
      name: "LuaRecordsTests",
      dependencies: [
        .product(name: "LuaRecords", package: "obs-lua"),
        .product(name: "LuaObservables", package: "obs-lua"),
        .product(name: "Lua", package: "obs-lua"),
        .product(name: "ObservableRecords", package: "obs-lua"),
      ],
      swiftSettings: strict),
  ]
)
