// swift-tools-version: 6.2

import PackageDescription

// Does not compile: it uses macros without their trait, and is built for what the compiler says.
let package = Package(
  name: "without-trait",
  dependencies: [.package(name: "obs-lua", path: "../../..")],
  targets: [
    .executableTarget(
      name: "client", dependencies: [.product(name: "ObservableModels", package: "obs-lua")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
