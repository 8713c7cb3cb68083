// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "models",
  dependencies: [.package(name: "obs-lua", path: "../../..")],
  targets: ["chores", "models"].map { name in
    .executableTarget(
      name: name,
      dependencies: [.product(name: "ObservableModels", package: "obs-lua")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  }
)
