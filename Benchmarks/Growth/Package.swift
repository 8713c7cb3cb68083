// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Growth",
  dependencies: [.package(name: "obs-lua", path: "../..")],
  targets: [
    .target(name: "CCounter"),
    .executableTarget(
      name: "Growth",
      dependencies: [
        "CCounter", .product(name: "Observables", package: "obs-lua"),
        .product(name: "LuaObservables", package: "obs-lua"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
  ]
)
