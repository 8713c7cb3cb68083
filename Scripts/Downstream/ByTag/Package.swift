// swift-tools-version: 6.2

import PackageDescription

guard let repository = Context.environment["OBS_LUA_REPOSITORY"] else {
  fatalError("OBS_LUA_REPOSITORY is not set: build this package with Scripts/downstream")
}

let package = Package(
  name: "by-tag",
  dependencies: [.package(url: repository, from: "0.1.0")],
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
