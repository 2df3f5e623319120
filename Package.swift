// swift-tools-version: 6.2
import PackageDescription

// A module per room of the house; imports among our own modules go down only. `Tests/House` holds the sources against this
// file, and this file against the walls between modules.

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
// SQLite itself, as GRDB has it.
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
// A second reader and writer of tokens, for tests alone.
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

// The texts of a target's folder `Resources`, compiled into the binary, which is all that is deployed.
let embeddedResources: [Target.PluginUsage] = ["EmbedResources"]

let package = Package(
    name: "till",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "till", targets: ["till"]),
        // What verifies proofs, for other packages; Benchmarks/ is one.
        .library(name: "Proofs", targets: ["Commerce", "Receipts", "Signatures"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // One trait: the flags of two come in an order that differs from run to run, which compiles Hummingbird again.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),

        .executableTarget(name: "embed-resources", path: "Plugins/embed-resources"),
        .plugin(name: "EmbedResources", capability: .buildTool(), dependencies: ["embed-resources"]),

        .target(name: "Commerce"),
        .target(name: "StrictJSON"),

        .target(name: "Signatures", dependencies: ["COpenSSL", "StrictJSON", asn1]),
        .target(name: "Catalog", dependencies: ["Commerce", "StrictJSON"]),
        .target(name: "Wire", dependencies: ["Commerce"]),

        .target(name: "Receipts", dependencies: ["Commerce", "Signatures", "StrictJSON", asn1]),
        .target(name: "Mailer", dependencies: ["CCurl", "Commerce", "Signatures"]),
        .target(
            name: "Ledger", dependencies: ["CPostgreSQL", "Commerce", "Signatures", grdb, grdbSQLite, nioPosix]),

        .target(name: "Entitlements", dependencies: ["Catalog", "Commerce", "Ledger", "Receipts", "Signatures"]),
        .target(
            name: "CatalogAdministration",
            dependencies: ["Catalog", "Commerce", "Entitlements", "Ledger", "Signatures", "StrictJSON"]),
        .target(name: "Profiles", dependencies: ["Catalog", "Commerce", "Entitlements", "Ledger"]),
        .target(name: "Attributes", dependencies: ["Commerce", "Entitlements", "Ledger"]),
        .target(name: "SeedApp", dependencies: ["Commerce", "Ledger"]),
        .target(
            name: "Accounts", dependencies: ["Commerce", "Ledger", "Signatures"], exclude: ["Resources"],
            plugins: embeddedResources),
        .target(name: "Team", dependencies: ["Commerce", "Ledger", "Signatures"]),
        .target(
            name: "Webhooks",
            dependencies: [
                "Catalog", "Commerce", "Entitlements", "Ledger", "Receipts", "Signatures", "StrictJSON", "Wire",
            ]),
        .target(name: "Figures", dependencies: ["Commerce", "Entitlements", "Ledger", "Receipts"]),
        .target(name: "Store", dependencies: ["Catalog", "Commerce", "Receipts", "Signatures", grdb]),

        .target(name: "Device", dependencies: ["Commerce", "Wire", asyncHTTPClient]),
        .target(
            name: "AppStoreClient", dependencies: ["Commerce", "Receipts", "Signatures", "StrictJSON", asyncHTTPClient]),
        .target(
            name: "HTTPSupport",
            dependencies: [
                "Accounts", "Catalog", "Commerce", "Ledger", "Receipts", "Signatures", "StrictJSON", "Wire",
                asyncHTTPClient, hummingbird, hummingbirdCore, hummingbirdTLS, lifecycle, logging, nioHTTPTypes,
                nioPosix,
            ]),
        .target(
            name: "Service",
            dependencies: [
                "Accounts", "AppStoreClient", "Attributes", "Catalog", "CatalogAdministration", "Commerce",
                "Entitlements", "Figures", "HTTPSupport", "Ledger", "Mailer", "Profiles", "Receipts", "SeedApp",
                "Signatures",
                "StrictJSON", "Webhooks", "Wire", asyncHTTPClient, hummingbird, lifecycle, logging, nioPosix,
            ],
            exclude: ["Resources"], plugins: embeddedResources),
        .target(
            name: "StoreHTTP",
            dependencies: [
                "Catalog", "Commerce", "HTTPSupport", "Receipts", "Signatures", "Store", "StrictJSON", "Wire",
                asyncHTTPClient, hummingbird, lifecycle, logging,
            ],
            exclude: ["Resources"], plugins: embeddedResources),

        .target(
            name: "Doors",
            dependencies: [
                "Attributes", "Catalog", "Commerce", "Entitlements", "HTTPSupport", "Ledger", "Receipts", "Signatures",
                "StrictJSON", hummingbird,
            ]),
        .target(
            name: "Console",
            dependencies: [
                "AppStoreClient", "Catalog", "CatalogAdministration", "Commerce", "Entitlements", "Figures",
                "HTTPSupport", "Ledger", "Profiles", "Receipts", "Signatures", "Store", "StrictJSON", "Team",
                "Webhooks", hummingbird, lifecycle, logging,
            ],
            exclude: ["Resources"], plugins: embeddedResources),

        .executableTarget(
            name: "till",
            dependencies: [
                "Accounts", "AppStoreClient", "Attributes", "Catalog", "CatalogAdministration", "Commerce", "Console",
                "Device", "Doors", "Entitlements", "Figures", "HTTPSupport", "Ledger", "Mailer", "Profiles", "Receipts",
                "SeedApp", "Service", "Signatures", "Store", "StoreHTTP", "StrictJSON", "Team", "Webhooks", "Wire",
                argumentParser, configuration, lifecycle, logging,
            ],
            exclude: ["Resources"], plugins: embeddedResources),

        .target(
            name: "TestSupport",
            dependencies: [
                "Accounts", "Attributes", "CPostgreSQL", "Catalog", "CatalogAdministration", "Commerce", "Entitlements",
                "Figures",
                "Ledger",
                "Profiles", "Receipts", "SeedApp", "Signatures", "Store", "StrictJSON", "Team", "Webhooks", hummingbird,
                logging,
            ],
            path: "Tests/Support", exclude: ["Garden.storekit", "failing-disk.c"]),
        .target(
            name: "FuzzTargets", dependencies: ["Catalog", "Commerce", "Receipts", "Signatures", "StrictJSON"],
            path: "Tests/Fuzzing/Targets"),
        .testTarget(name: "StrictJSONTests", dependencies: ["StrictJSON"], path: "Tests/StrictJSON"),
        .testTarget(name: "CommerceTests", dependencies: ["Commerce"], path: "Tests/Commerce"),
        .testTarget(name: "SignaturesTests", dependencies: ["Signatures", "TestSupport"], path: "Tests/Signatures"),
        .testTarget(name: "CatalogTests", dependencies: ["Catalog", "TestSupport"], path: "Tests/Catalog"),
        .testTarget(name: "ReceiptsTests", dependencies: ["Receipts", "TestSupport"], path: "Tests/Receipts"),
        .testTarget(
            name: "MailerTests", dependencies: ["Commerce", "Mailer", "Signatures", "TestSupport"],
            path: "Tests/Mailer", exclude: ["mail_server.py"]),
        .testTarget(
            name: "LedgerTests",
            dependencies: [
                "Accounts", "Attributes", "CatalogAdministration", "Entitlements", "Figures", "Ledger", "Profiles",
                "SeedApp", "Signatures", "TestSupport", "Webhooks", grdb,
            ],
            path: "Tests/Ledger"),
        .testTarget(name: "StoreTests", dependencies: ["Store", "TestSupport", grdb], path: "Tests/Store"),
        .testTarget(
            name: "EntitlementsTests", dependencies: ["Entitlements", "TestSupport", "Webhooks"],
            path: "Tests/Entitlements"),
        .testTarget(name: "ProfilesTests", dependencies: ["Profiles", "TestSupport"], path: "Tests/Profiles"),
        .testTarget(name: "AttributesTests", dependencies: ["Attributes", "TestSupport"], path: "Tests/Attributes"),
        .testTarget(name: "SeedAppTests", dependencies: ["SeedApp", "TestSupport"], path: "Tests/SeedApp"),
        .testTarget(name: "AccountsTests", dependencies: ["Accounts", "TestSupport"], path: "Tests/Accounts"),
        .testTarget(
            name: "CatalogAdministrationTests", dependencies: ["CatalogAdministration", "Entitlements", "TestSupport"],
            path: "Tests/CatalogAdministration"),
        .testTarget(
            name: "FiguresTests", dependencies: ["Entitlements", "Figures", "TestSupport"], path: "Tests/Figures"),
        .testTarget(
            name: "WebhooksTests", dependencies: ["Entitlements", "Receipts", "TestSupport", "Webhooks"],
            path: "Tests/Webhooks"),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Catalog", "Device", "Doors", "Entitlements", "Figures", "HTTPSupport", "Ledger", "Receipts", "Store",
                "StrictJSON", "TestSupport", "Webhooks", "Wire",
            ],
            path: "Tests/Simulation"),
        .testTarget(name: "DeviceTests", dependencies: ["Device", "TestSupport", "Wire"], path: "Tests/Device"),
        .testTarget(
            name: "HTTPSupportTests",
            dependencies: ["HTTPSupport", "TestSupport", hummingbirdTesting, jwtKit, logging, nioCore, nioPosix],
            path: "Tests/HTTPSupport"),
        .testTarget(
            name: "StoreHTTPTests",
            dependencies: [
                "AppStoreClient", "HTTPSupport", "StoreHTTP", "TestSupport", "Wire", hummingbirdTesting, jwtKit,
                logging,
            ],
            path: "Tests/StoreHTTP"),
        .testTarget(
            name: "AppStoreClientTests", dependencies: ["AppStoreClient", "TestSupport", jwtKit],
            path: "Tests/AppStoreClient"),
        .testTarget(name: "WireTests", dependencies: ["TestSupport", "Wire"], path: "Tests/Wire"),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "Accounts", "AppStoreClient", "CatalogAdministration", "Device", "Figures", "HTTPSupport", "Mailer",
                "Profiles", "Service", "StoreHTTP", "TestSupport", "Webhooks", "Wire", hummingbirdTesting, lifecycle,
                logging,
            ],
            path: "Tests/Service", exclude: ["Year/Year.storekit"]),
        .testTarget(
            name: "DoorsTests",
            dependencies: [
                "Catalog", "Doors", "Entitlements", "Figures", "HTTPSupport", "Ledger", "Receipts", "Service",
                "StrictJSON", "TestSupport", "Webhooks", hummingbirdTesting, logging,
            ],
            path: "Tests/Doors", exclude: ["Schemas"]),
        .testTarget(
            name: "TeamTests", dependencies: ["Entitlements", "Ledger", "Team", "TestSupport"], path: "Tests/Team"),
        .testTarget(
            name: "ConsoleTests",
            dependencies: [
                "CatalogAdministration", "Console", "Entitlements", "Figures", "HTTPSupport", "Profiles", "Service",
                "StoreHTTP", "Team", "TestSupport", "Webhooks", hummingbirdTesting,
            ],
            path: "Tests/Console"),
        .testTarget(
            name: "tillTests", dependencies: ["Device", "till", "TestSupport", "Wire", asyncHTTPClient, grdb, logging],
            path: "Tests/till"),
        .testTarget(
            name: "AttackTests", dependencies: ["till", "TestSupport", "Wire", nioCore, nioPosix], path: "Tests/Attack"),
        .testTarget(name: "FuzzingTests", dependencies: ["FuzzTargets", "TestSupport"], path: "Tests/Fuzzing/Replay"),
        .testTarget(name: "HouseTests", dependencies: ["TestSupport"], path: "Tests/House"),
    ],
    swiftLanguageModes: [.v6]
)

// Tests of many seeds and of load are optimised. The others compile in half the time without; what they test is optimised.
let optimizedTests = ["AttackTests", "EntitlementsTests", "SimulationTests"]
for target in package.targets where target.type == .test && !optimizedTests.contains(target.name) {
    target.swiftSettings = [.unsafeFlags(["-Onone"])]
}

// Only `make fuzz` links libFuzzer, which comes with the toolchain.
if Context.environment["TILL_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzzing/CLibFuzzer"),
        .executableTarget(
            name: "till-fuzz", dependencies: ["CLibFuzzer", "FuzzTargets"], path: "Tests/Fuzzing/Driver"),
    ]
}

// `make package` links the Swift libraries into the program. These flags reach the linker alone, so that the objects are those
// of `make build`; `--static-swift-stdlib` would compile everything anew. The libraries named are those that Foundation's static
// library needs and objects compiled for the shared one do not name.
if Context.environment["TILL_STATIC_STDLIB"] != nil {
    for target in package.targets where target.name == "till" {
        target.linkerSettings = [
            .unsafeFlags([
                "-static-stdlib", "-lCoreFoundation", "-l_FoundationICU", "-l_FoundationCShims",
                "-l_FoundationCollections",
            ])
        ]
    }
}
