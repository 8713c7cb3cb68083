// swift-tools-version: 6.2

import PackageDescription

// Does not compile, as it uses macros without their trait: it checks the compiler's message.
let package = Package(
  name: "without-trait",
  dependencies: [.package(name: "obs-lua", path: "../../..")],
  targets: [
    .executableTarget(
      name: "client", dependencies: [.product(name: "ObservableModels", package: "obs-lua")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
