// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "models",
  dependencies: [.package(name: "obs-lua", path: "../../..")],
  targets: [
    .executableTarget(
      name: "models",
      dependencies: [.product(name: "ObservableModels", package: "obs-lua")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
