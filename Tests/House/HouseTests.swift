import Foundation
import Testing

/// The walls of the house, held against the manifest and the sources.
@Suite struct HouseTests {
    /// The features, and what they all stand on.
    private static let features: Set = [
        "Accounts", "Attributes", "CatalogAdministration", "Commerce", "Entitlements", "Figures", "Ledger", "Profiles",
        "SeedApp", "Signatures", "Team", "Webhooks",
    ]

    /// The modules of this package that each module may import.
    static let allowed: [String: Set<String>] = [
        "CCurl": [],
        "COpenSSL": [],
        "CPostgreSQL": [],
        "StrictJSON": [],
        "Commerce": [],
        "Signatures": ["COpenSSL", "StrictJSON"],
        "Catalog": ["Commerce", "StrictJSON"],
        "Receipts": ["Commerce", "Signatures", "StrictJSON"],
        "Mailer": ["CCurl", "Commerce", "Signatures"],
        "Ledger": ["CPostgreSQL", "Commerce", "Signatures"],
        "Store": ["Commerce", "Catalog", "Receipts", "Signatures"],
        "Entitlements": ["Commerce", "Catalog", "Receipts", "Ledger", "Signatures"],
        "Figures": ["Commerce", "Entitlements", "Ledger", "Receipts"],
        "Profiles": ["Commerce", "Catalog", "Entitlements", "Ledger"],
        "SeedApp": ["Commerce", "Ledger"],
        "Attributes": ["Commerce", "Ledger"],
        "Accounts": ["Commerce", "Ledger", "Signatures"],
        "CatalogAdministration": ["Catalog", "Commerce", "Entitlements", "Ledger", "Signatures", "StrictJSON"],
        "Team": ["Commerce", "Ledger", "Signatures"],
        "Webhooks": [
            "Catalog", "Commerce", "Entitlements", "Ledger", "Receipts", "Signatures", "StrictJSON", "Wire",
        ],
        "Device": ["Commerce", "Wire"],
        "Wire": ["Commerce"],
        "AppStoreClient": ["Commerce", "Receipts", "Signatures", "StrictJSON"],
        "HTTPSupport": ["Accounts", "Catalog", "Commerce", "Ledger", "Receipts", "Signatures", "StrictJSON", "Wire"],
        "Service": features.subtracting(["Team"]).union([
            "AppStoreClient", "Catalog", "HTTPSupport", "Mailer", "Receipts", "StrictJSON", "Wire",
        ]),
        "Console": features.subtracting(["Accounts", "Attributes", "SeedApp"]).union([
            "AppStoreClient", "Catalog", "HTTPSupport", "Receipts", "Store", "StrictJSON",
        ]),
        "Doors": [
            "Attributes", "Catalog", "Commerce", "Entitlements", "HTTPSupport", "Receipts", "Signatures", "StrictJSON",
        ],
        "StoreHTTP": ["Catalog", "Commerce", "HTTPSupport", "Receipts", "Signatures", "Store", "StrictJSON", "Wire"],
        "till": features.union([
            "AppStoreClient", "Catalog", "Console", "Device", "Doors", "HTTPSupport", "Mailer", "Receipts", "Service",
            "Store",
            "StoreHTTP", "StrictJSON", "Wire",
        ]),
    ]

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct Manifest: Decodable {
        struct Target: Decodable {
            struct Dependency: Decodable {
                /// The name of a target of this package, first of the list; nil for another package's product.
                let byName: [String?]?
                let target: [String?]?
                /// The name of another package's product, first of the list.
                let product: [String?]?

                var name: String? { (byName ?? target)?.first ?? nil }
            }

            let name: String
            let type: String
            let dependencies: [Dependency]
        }

        let targets: [Target]
        let swiftLanguageVersions: [String]?
    }

    /// The package description that SwiftPM reads from Package.swift.
    private func manifest() async throws -> Manifest {
        let result = try await ShellCommand.run(
            ["swift", "package", "--package-path", Self.root.path, "--ignore-lock", "dump-package"])
        return try JSONDecoder().decode(Manifest.self, from: result.output)
    }

    @Test func `each module depends only on its allowed modules`() async throws {
        let manifest = try await manifest()
        let modules = manifest.targets.filter {
            !["test", "plugin"].contains($0.type)
                && !["TestSupport", "FuzzTargets", "embed-resources"].contains($0.name)
        }
        #expect(Set(modules.map(\.name)) == Set(Self.allowed.keys))
        for module in modules {
            let ours = Set(module.dependencies.compactMap(\.name)).intersection(Self.allowed.keys)
            let allowed = try #require(Self.allowed[module.name])
            #expect(ours.isSubset(of: allowed), "\(module.name) may not import \(ours.subtracting(allowed))")
        }
        #expect(manifest.swiftLanguageVersions == ["6"])
    }

    /// It compiles two more packages, with a copy of BoringSSL, which a build of `till` is spared.
    @Test func `jwt-kit is for tests alone`() async throws {
        let targets = try await manifest().targets.filter { $0.dependencies.contains { $0.product?.first == "JWTKit" } }
        #expect(!targets.isEmpty)
        #expect(targets.allSatisfy { $0.type == "test" }, "\(targets.map(\.name))")
    }

    @Test func `each source file imports only its module's allowed modules`() throws {
        for file in try sources() {
            let module = Self.module(of: file)
            let allowed = try #require(Self.allowed[module])
            let imported = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .compactMap { $0.hasPrefix("import ") ? String($0.dropFirst("import ".count)) : nil }
            let ours = Set(imported).intersection(Self.allowed.keys)
            #expect(ours.isSubset(of: allowed), "\(module)/\(file.lastPathComponent)")
        }
    }

    @Test func `each file that the architecture names is there`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "Documentation/Architecture.md"), encoding: .utf8)
        let names = page.matches(of: /`([A-Za-z\/+]+\.swift)`/).map { String($0.1) }
        #expect(names.count > 10)
        for name in names {
            let path = name.hasPrefix("Sources/") ? name : "Sources/Entitlements/Rules/\(name)"
            #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: path).path), "\(name)")
        }
    }

    @Test func `the architecture lists the modules and the imports that each may have`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "Documentation/Architecture.md"), encoding: .utf8)
        var listed: [String: Set<String>] = [:]
        for row in page.matches(of: /\n\| ((?:`\w+`(?:, )?)+) \|[^|\n]+\| ((?:`\w+`(?:, )?)+|none) \|/) {
            let imports = Set(row.2.matches(of: /\w+/).map { String($0.0) }).subtracting(["none"])
            for module in row.1.matches(of: /\w+/) { listed[String(module.0)] = imports }
        }
        #expect(Set(listed.keys) == Set(Self.allowed.keys))
        for (module, imports) in listed { #expect(imports == Self.allowed[module], "\(module)") }
    }

    @Test func `each module has tests in a folder of its name`() throws {
        for module in Self.allowed.keys where !["CCurl", "COpenSSL", "CPostgreSQL"].contains(module) {
            let folder = Self.root.appending(path: "Tests/\(module)", directoryHint: .isDirectory)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(files.contains { $0.hasSuffix("Tests.swift") }, "\(module)")
        }
    }

    @Test func `OpenSSL, curl and the databases are imported only by their own modules`() throws {
        for (name, rooms): (String, Set<String>) in [
            ("CCurl", ["Mailer"]), ("COpenSSL", ["Signatures"]), ("CPostgreSQL", ["Ledger"]),
            ("GRDBSQLite", ["Ledger"]),
            ("GRDB", ["Ledger", "Store"]),
        ] {
            let importers = try sources().filter {
                try String(contentsOf: $0, encoding: .utf8).contains("import \(name)\n")
            }
            .map(Self.module)
            #expect(Set(importers) == rooms)
        }
    }

    @Test func `sources never force a try or a cast, trap, or bypass isolation`() throws {
        let forbidden = ["try!", "as!", "fatalError(", "nonisolated(unsafe)", "@testable"]
        for file in try sources() {
            let text = try String(contentsOf: file, encoding: .utf8)
            for word in forbidden { #expect(!text.contains(word), "\(word) in \(file.lastPathComponent)") }
        }
    }

    /// SQLite numbers the parameters `$1` and `$2` by where they occur first, PostgreSQL by their names.
    @Test func `the parameters of each SQL text occur in the order of their numbers`() throws {
        for file in try sources() {
            let parts = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\"\"\"", omittingEmptySubsequences: false)
            let lines = parts.enumerated().flatMap { index, part in
                index.isMultiple(of: 2) ? part.split(separator: "\n").filter { $0.contains("\"") } : [part]
            }
            for line in lines {
                var numbers: [Int] = []
                for match in line.matches(of: /\$([1-9][0-9]*)/) {
                    guard let number = Int(match.1), !numbers.contains(number) else { continue }
                    numbers.append(number)
                }
                #expect(numbers == numbers.sorted(), "\(file.lastPathComponent): \(line)")
            }
        }
    }

    private static func module(of file: URL) -> String {
        file.pathComponents.drop { $0 != "Sources" }.dropFirst().first ?? ""
    }

    private func sources() throws -> [URL] {
        let folder = Self.root.appending(path: "Sources", directoryHint: .isDirectory)
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    }
}
