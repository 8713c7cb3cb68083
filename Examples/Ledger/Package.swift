// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "ledger",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "obs-lua", path: "../..", traits: ["Records"])],
  targets: [
    .executableTarget(
      name: "ledger",
      dependencies: [
        .product(name: "LuaObservables", package: "obs-lua"),
        .product(name: "LuaRecords", package: "obs-lua"),
        .product(name: "ObservableRecords", package: "obs-lua"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
