// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "server",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "obs-lua", path: "../..")],
  targets: [
    .executableTarget(
      name: "server",
      dependencies: [
        .product(name: "Lua", package: "obs-lua"),
        .product(name: "LuaObservables", package: "obs-lua"),
        .product(name: "Observables", package: "obs-lua"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
