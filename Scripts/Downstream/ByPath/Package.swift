// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "by-path",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "obs-lua", path: "../../..")],
  targets: [
    "basket", "calculator", "client", "collections", "desk", "document", "game", "lazies",
    "lobby", "observers", "player", "plugins", "service", "thermostat", "threads",
  ].map { name in
    .executableTarget(
      name: name,
      dependencies: (name == "client" ? ["Shapes"] : []) + [
        .product(name: "Lua", package: "obs-lua"),
        .product(name: "LuaObservables", package: "obs-lua"),
        .product(name: "Observables", package: "obs-lua"),
        .product(name: "ProtocolObservers", package: "obs-lua"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)])
  } + [
    .target(name: "Shapes", swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
