// swift-tools-version: 6.2
import PackageDescription

// A module is a wall; everything else is a folder. Imports among our own modules go down only. `Tests/House` holds the
// sources against this file, and this file against the walls.

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
// SQLite itself, as GRDB has it.
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

// The texts of a target's folders `Resources`, compiled into the binary, which is all that is deployed.
let embeddedResources: [Target.PluginUsage] = ["EmbedResources"]

let package = Package(
    name: "till",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "till", targets: ["till"]),
        // What verifies proofs, for other packages; Benchmarks/ is one.
        .library(name: "Proofs", targets: ["Proofs"]),
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
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),

        .executableTarget(name: "embed-resources", path: "Plugins/embed-resources"),
        .plugin(name: "EmbedResources", capability: .buildTool(), dependencies: ["embed-resources"]),

        // The library: strict JSON, signatures, proofs of purchase.
        .target(name: "Proofs", dependencies: ["COpenSSL", asn1]),
        // What Till says beside the proofs: users, items, redemptions, errors with their remedies and Korean.
        .target(name: "Vocabulary", dependencies: ["Proofs"]),
        .target(name: "Catalog", dependencies: ["Proofs", "Vocabulary"]),
        .target(name: "Ledger", dependencies: ["CPostgreSQL", "Proofs", "Vocabulary", grdb, grdbSQLite, nioPosix]),
        // The heart: the decision about claims, coverage, ownership, history, items; what each store's statements mean.
        .target(name: "Entitlements", dependencies: ["Catalog", "Ledger", "Proofs", "Vocabulary"]),
        // A folder for each other feature; `Tests/House` reads the walls between them.
        .target(
            name: "Features", dependencies: ["Catalog", "Entitlements", "Ledger", "Proofs", "Vocabulary"],
            exclude: ["Accounts/Resources"],
            plugins: embeddedResources),
        .target(
            name: "HTTPSupport",
            dependencies: [
                "CCurl", "COpenSSL", "Catalog", "Ledger", "Proofs", "Vocabulary", grdb, hummingbird, hummingbirdCore,
                lifecycle, logging, nioHTTPTypes, nioPosix,
            ],
            exclude: ["LocalStoreHTTP/Resources"], plugins: embeddedResources),
        .target(
            name: "Service",
            dependencies: [
                "CCurl", "Catalog", "Entitlements", "Features", "HTTPSupport", "Ledger", "Proofs", "Vocabulary",
                hummingbird, lifecycle, logging, nioCore,
            ],
            exclude: ["Resources"], plugins: embeddedResources),
        // The local App Store, whose keys sign; it never meets the ledger or a feature.
        .target(
            name: "AppStore",
            dependencies: [
                "Catalog", "HTTPSupport", "Proofs", "Vocabulary", grdb, hummingbird, lifecycle, logging,
            ],
            exclude: ["StoreHTTP/Resources"], plugins: embeddedResources),
        // The local Google Play, whose keys sign; it never meets the ledger or a feature.
        .target(
            name: "PlayStore",
            dependencies: [
                "Catalog", "HTTPSupport", "Proofs", "Vocabulary", grdb, hummingbird, lifecycle, logging,
            ],
            exclude: ["PlayHTTP/Resources"], plugins: embeddedResources),
        .target(
            name: "Console",
            dependencies: [
                "AppStore", "Catalog", "Entitlements", "Features", "HTTPSupport", "Ledger", "PlayStore", "Proofs",
                "Vocabulary", hummingbird, lifecycle, logging,
            ],
            exclude: ["Resources"], plugins: embeddedResources),

        .executableTarget(
            name: "till",
            dependencies: [
                "AppStore", "Catalog", "Console", "Entitlements", "Features", "HTTPSupport", "Ledger", "PlayStore",
                "Proofs", "Service", "Vocabulary", argumentParser, configuration, hummingbird, lifecycle, logging,
                unixSignals,
            ],
            exclude: ["Resources"], plugins: embeddedResources),

        .target(
            name: "TestSupport",
            dependencies: [
                "AppStore", "CPostgreSQL", "Catalog", "Entitlements", "Features", "HTTPSupport", "Ledger", "Proofs",
                "Vocabulary", hummingbird, lifecycle, logging, nioCore, nioEmbedded,
            ],
            path: "Tests/Support", exclude: ["Garden.storekit", "failing-disk.c"]),
        .target(
            name: "Acme", dependencies: ["Entitlements", "Proofs", "Vocabulary"], path: "Tests/Acme"),
        .target(
            name: "FuzzTargets", dependencies: ["Catalog", "Proofs"],
            path: "Tests/Fuzzing/Targets"),
        .testTarget(name: "StrictJSONTests", dependencies: ["Proofs"], path: "Tests/StrictJSON"),
        .testTarget(name: "CommerceTests", dependencies: ["Proofs"], path: "Tests/Commerce"),
        .testTarget(name: "VocabularyTests", dependencies: ["Proofs", "Vocabulary"], path: "Tests/Vocabulary"),
        .testTarget(name: "SignaturesTests", dependencies: ["Proofs", "TestSupport"], path: "Tests/Signatures"),
        .testTarget(
            name: "CatalogTests", dependencies: ["Catalog", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/Catalog"),
        .testTarget(
            name: "ReceiptsTests", dependencies: ["Proofs", "TestSupport", "Vocabulary"], path: "Tests/Receipts"),
        .testTarget(
            name: "MailerTests", dependencies: ["Proofs", "Service", "TestSupport", "Vocabulary"],
            path: "Tests/Mailer", exclude: ["mail_server.py"]),
        .testTarget(
            name: "LedgerTests",
            dependencies: [
                "Catalog", "Entitlements", "Features", "HTTPSupport", "Ledger", "Proofs", "TestSupport", "Vocabulary",
                grdb,
                nioCore, nioPosix,
            ],
            path: "Tests/Ledger"),
        .testTarget(
            name: "StoreTests",
            dependencies: ["AppStore", "Catalog", "HTTPSupport", "Proofs", "TestSupport", "Vocabulary", grdb],
            path: "Tests/Store"),
        .testTarget(
            name: "EntitlementsTests",
            dependencies: [
                "AppStore", "Catalog", "Entitlements", "Features", "HTTPSupport", "Ledger", "Proofs", "Service",
                "TestSupport",
                "Vocabulary",
            ],
            path: "Tests/Entitlements"),
        .testTarget(
            name: "ProfilesTests", dependencies: ["Entitlements", "Features", "TestSupport", "Vocabulary"],
            path: "Tests/Profiles"),
        .testTarget(
            name: "AttributesTests",
            dependencies: ["Entitlements", "Features", "Ledger", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/Attributes"),
        .testTarget(
            name: "SeedAppTests", dependencies: ["Entitlements", "Ledger", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/SeedApp"),
        .testTarget(
            name: "AccountsTests",
            dependencies: ["Entitlements", "Features", "Ledger", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/Accounts"
        ),
        .testTarget(
            name: "CredentialsTests", dependencies: ["Features", "Proofs", "Vocabulary"], path: "Tests/Credentials"),
        .testTarget(
            name: "CatalogAdministrationTests",
            dependencies: ["Catalog", "Entitlements", "Features", "Ledger", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/CatalogAdministration"),
        .testTarget(
            name: "GooglePlayTests",
            dependencies: ["Catalog", "Entitlements", "Ledger", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/GooglePlay"),
        .testTarget(
            name: "FiguresTests", dependencies: ["Entitlements", "Features", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/Figures"),
        .testTarget(
            name: "WebhooksTests",
            dependencies: ["Entitlements", "Features", "Ledger", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/Webhooks"),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Acme", "AppStore", "Catalog", "Entitlements", "Features", "HTTPSupport", "Ledger", "PlayStore",
                "Proofs", "Service", "TestSupport", "Vocabulary", logging,
            ],
            path: "Tests/Simulation"),
        .testTarget(
            name: "DeviceTests", dependencies: ["AppStore", "HTTPSupport", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/Device"
        ),
        .testTarget(
            name: "HTTPSupportTests",
            dependencies: [
                "COpenSSL", "HTTPSupport", "Ledger", "Proofs", "TestSupport", "Vocabulary", lifecycle, logging, nioCore,
                nioPosix,
            ],
            path: "Tests/HTTPSupport", exclude: ["oracle-tokens.json", "oracle_tokens.py"]),
        .testTarget(
            name: "StoreHTTPTests",
            dependencies: [
                "AppStore", "HTTPSupport", "Proofs", "Service", "TestSupport", "Vocabulary", logging,
            ],
            path: "Tests/StoreHTTP"),
        .testTarget(
            name: "PlayStoreTests",
            dependencies: ["Catalog", "HTTPSupport", "PlayStore", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/PlayStore"),
        .testTarget(
            name: "AppStoreClientTests",
            dependencies: ["Entitlements", "Proofs", "Service", "TestSupport", "Vocabulary"],
            path: "Tests/AppStoreClient"),
        .testTarget(
            name: "PlayDeveloperAPITests",
            dependencies: [
                "Catalog", "Entitlements", "HTTPSupport", "Ledger", "PlayStore", "Proofs", "Service", "TestSupport",
                "Vocabulary", hummingbird, logging,
            ],
            path: "Tests/PlayDeveloperAPI"),
        .testTarget(
            name: "WireTests", dependencies: ["HTTPSupport", "Proofs", "Service", "TestSupport", "Vocabulary"],
            path: "Tests/Wire"),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "AppStore", "Catalog", "Entitlements", "Features", "HTTPSupport", "Ledger", "PlayStore", "Proofs",
                "Service", "TestSupport", "Vocabulary", lifecycle, logging,
            ],
            path: "Tests/Service", exclude: ["Year/Year.storekit", "Years"]),
        .testTarget(
            name: "StoreTableTests",
            dependencies: [
                "Acme", "Catalog", "Entitlements", "Features", "HTTPSupport", "Ledger", "Proofs", "Service",
                "TestSupport", "Vocabulary", hummingbird, logging,
            ],
            path: "Tests/StoreTable"),
        .testTarget(
            name: "DoorsTests",
            dependencies: [
                "AppStore", "Catalog", "Entitlements", "Features", "HTTPSupport", "Ledger", "PlayStore", "Proofs",
                "Service", "TestSupport", "Vocabulary", logging,
            ],
            path: "Tests/Doors", exclude: ["Schemas"]),
        .testTarget(
            name: "TeamTests",
            dependencies: ["Entitlements", "Features", "Ledger", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/Team"),
        .testTarget(
            name: "ConsoleTests",
            dependencies: [
                "AppStore", "Catalog", "Console", "Entitlements", "Features", "HTTPSupport", "Ledger", "PlayStore",
                "Proofs", "Service", "TestSupport", "Vocabulary",
            ],
            path: "Tests/Console"),
        .testTarget(
            name: "tillTests",
            dependencies: [
                "AppStore", "Catalog", "Entitlements", "Features", "HTTPSupport", "PlayStore", "Proofs", "Service",
                "TestSupport", "Vocabulary", "till", argumentParser, grdb, logging, nioCore, nioHTTP1, nioPosix,
            ],
            path: "Tests/till"),
        .testTarget(
            name: "AttackTests",
            dependencies: [
                "Entitlements", "Ledger", "Proofs", "Service", "TestSupport", "Vocabulary", nioCore, nioPosix,
            ],
            path: "Tests/Attack"),
        .testTarget(name: "FuzzingTests", dependencies: ["FuzzTargets", "TestSupport"], path: "Tests/Fuzzing/Replay"),
        .testTarget(name: "HouseTests", dependencies: ["TestSupport"], path: "Tests/House"),
    ],
    swiftLanguageModes: [.v6]
)

// Tests of many seeds and of load are optimised. The others compile in half the time without; what they test is optimised. No module
// imports them, so that none waits for their interface, which the compiler would otherwise make first, in a reading of its own.
let optimizedTests = ["AttackTests", "SimulationTests"]
for target in package.targets where target.type == .test {
    let optimization = optimizedTests.contains(target.name) ? "-O" : "-Onone"
    target.swiftSettings = [
        .unsafeFlags(
            ["-no-emit-module-separately-wmo", "-Xfrontend", optimization], .when(configuration: .release))
    ]
}

// `Scripts/swift-build.sh` says why. SwiftPM's own option would write an index of every package.
if let index = Context.environment["TILL_TEST_INDEX"] {
    for target in package.targets where target.type == .test {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [
                .unsafeFlags(["-index-store-path", index], .when(platforms: [.linux], configuration: .debug))
            ]
    }
}

// A purchase is compiled for speed. `Scripts/swift-build.sh` compiles everything else for size, which takes a fifth of its code; the
// option for the frontend goes before its own.
for target in package.targets where ["Entitlements", "Ledger", "Proofs", "Vocabulary"].contains(target.name) {
    target.swiftSettings = [.unsafeFlags(["-Xfrontend", "-O"], .when(configuration: .release))]
}

// The toolchain's own linker, in half the time of the system's: whoever changes a line waits for it.
for target in package.targets where target.type == .executable || target.type == .test {
    target.linkerSettings = [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux]))]
}

// No exception unwinds the program, and debuggers and profilers follow its frame pointers: the tables for both were a sixth of it.
// Of functions with the same instructions it keeps one, whose name backtraces show for all of them.
for target in package.targets where target.name == "till" {
    let script = "\(Context.packageDirectory)/Scripts/without-unwind-tables.ld"
    target.linkerSettings?.append(
        .unsafeFlags(
            ["-Xlinker", "--no-eh-frame-hdr", "-Xlinker", "--icf=all", "-Xlinker", "-T", "-Xlinker", script],
            .when(platforms: [.linux], configuration: .release)))
}

// Only `make fuzz` links libFuzzer, which comes with the toolchain.
if Context.environment["TILL_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzzing/CLibFuzzer"),
        .executableTarget(
            name: "till-fuzz", dependencies: ["CLibFuzzer", "FuzzTargets"], path: "Tests/Fuzzing/Driver"),
    ]
}

// Only `make bench-instructions` runs it.
if Context.environment["TILL_INSTRUCTIONS"] != nil {
    package.targets.append(
        .executableTarget(
            name: "till-instructions",
            dependencies: ["Catalog", "Entitlements", "Features", "Ledger", "Proofs", "TestSupport", "Vocabulary"],
            path: "Tests/Instructions"))
}

// `make package` links the Swift libraries into the program. These flags reach the linker alone, so that the objects are those
// of `make build`; `--static-swift-stdlib` would compile everything anew. The libraries named are those that Foundation's static
// library needs and objects compiled for the shared one do not name.
if Context.environment["TILL_STATIC_STDLIB"] != nil {
    for target in package.targets where target.name == "till" {
        target.linkerSettings?.append(
            .unsafeFlags([
                "-static-stdlib", "-lCoreFoundation", "-l_FoundationICU", "-l_FoundationCShims",
                "-l_FoundationCollections",
            ]))
    }
}
