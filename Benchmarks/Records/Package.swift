// swift-tools-version: 6.2

import PackageDescription

// Rows of a database, compared with GRDB alone: swift run -c release --package-path
// Benchmarks/Records
let package = Package(
  name: "record-benchmarks",
  dependencies: [.package(name: "obs-lua", path: "../..", traits: ["Records"])],
  targets: [
    .executableTarget(
      name: "records", dependencies: [.product(name: "ObservableRecords", package: "obs-lua")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
