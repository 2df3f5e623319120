// swift-tools-version: 6.2
import PackageDescription

// A separate package, so a build of Till does not build the benchmarks. `make bench` and `make bench-service` run it.

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "till", path: ".."),
        // The traits are off. They would replace malloc to count allocations.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
    ],
    targets: [
        .executableTarget(
            name: "ProofSpeed",
            dependencies: [
                .product(name: "Proofs", package: "till"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "ProofSpeed",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        .executableTarget(
            name: "Hello", dependencies: [.product(name: "Hummingbird", package: "hummingbird")], path: "Hello"),
        .executableTarget(
            name: "TransactionMint", dependencies: [.product(name: "Proofs", package: "till")], path: "TransactionMint"),
    ],
    swiftLanguageModes: [.v6]
)
