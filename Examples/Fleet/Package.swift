// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "fleet",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "obs-lua", path: "../..")],
  targets: [
    .executableTarget(
      name: "fleet",
      dependencies: [
        .product(name: "Observables", package: "obs-lua"),
        .product(name: "TreeMirrors", package: "obs-lua"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
