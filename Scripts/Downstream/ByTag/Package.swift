// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "client",
  platforms: [.macOS(.v15)],
  dependencies: [
    // For macros: .package(url: "…", from: "0.1.0", traits: ["Macros"])
    .package(url: "https://example.com/obs-lua", from: "0.1.0")
  ],
  targets: [
    .executableTarget(
      name: "client",
      dependencies: [
        .product(name: "Lua", package: "obs-lua"),
        .product(name: "LuaObservables", package: "obs-lua"),
        .product(name: "Observables", package: "obs-lua"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
