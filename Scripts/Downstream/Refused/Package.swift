// swift-tools-version: 6.2

import PackageDescription

// Does not compile: it is built for what the compiler says.
let package = Package(
  name: "refused",
  dependencies: [.package(name: "obs-lua", path: "../../..", traits: ["Macros"])],
  targets: [
    .target(
      name: "refused", dependencies: [.product(name: "ObservableModels", package: "obs-lua")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
