import Foundation
import Testing

/// The walls between the modules, and the rules of the sources.
@Suite struct HouseTests {
    /// A module, and the modules that it must not reach, directly or through others.
    struct Wall: Sendable {
        let module: String
        let hidden: Set<String>
    }

    static let walls = [
        // The ledger knows no feature, and the heart no other one.
        Wall(module: "Ledger", hidden: ["Catalog", "Entitlements", "Features"]),
        Wall(module: "Entitlements", hidden: ["Features", "HTTPSupport"]),
        // The keys of the local store and the service never meet, except in the command line.
        Wall(module: "AppStore", hidden: ["Entitlements", "Features", "Service"]),
        Wall(module: "PlayStore", hidden: ["AppStore", "Entitlements", "Features", "Service"]),
        Wall(module: "Service", hidden: ["AppStore", "Console", "PlayStore"]),
        Wall(module: "Console", hidden: ["Service"]),
        Wall(module: "HTTPSupport", hidden: ["Entitlements", "Features"]),
        Wall(module: "Features", hidden: ["AppStore", "HTTPSupport", "PlayStore"]),
        // The library for other packages needs no database, and has none of Till's own words.
        Wall(module: "Proofs", hidden: ["Catalog", "Ledger", "Vocabulary"]),
    ]

    /// The folders of a module that has several: the tests of each are in a folder of its name.
    private static let folders: [String: [String]] = [
        "Proofs": ["Commerce", "Receipts", "Signatures", "StrictJSON"],
        "Entitlements": ["Entitlements", "GooglePlay"],
        "Features": FolderWallTests.features,
        "Service": ["AppStoreClient", "Doors", "Mailer", "PlayDeveloperAPI", "Service"],
        "AppStore": ["Device", "Store", "StoreHTTP"],
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
            /// Nil for a module in the folder of its name in `Sources`, and for a plugin.
            let path: String?
            let dependencies: [Dependency]
        }

        let targets: [Target]
        let swiftLanguageVersions: [String]?

        /// The targets in `Sources`.
        var modules: [Target] { targets.filter { $0.path == nil && $0.type != "plugin" } }

        /// The modules of `Sources` that each one depends on.
        var dependencies: [String: Set<String>] {
            let names = Set(modules.map(\.name))
            return Dictionary(
                uniqueKeysWithValues: modules.map { module in
                    (module.name, names.intersection(module.dependencies.compactMap(\.name)))
                })
        }
    }

    /// The package description that SwiftPM reads from Package.swift.
    private static let manifest = Task {
        let result = try await ShellCommand.run(
            ["swift", "package", "--package-path", root.path, "--ignore-lock", "dump-package"])
        return try JSONDecoder().decode(Manifest.self, from: result.output)
    }

    @Test(arguments: walls) func `a module reaches no module behind its walls`(_ wall: Wall) async throws {
        let dependencies = try await Self.manifest.value.dependencies
        var reached: Set<String> = []
        var waiting = [wall.module]
        while let module = waiting.popLast() {
            for next in try #require(dependencies[module], "\(module)") where reached.insert(next).inserted {
                waiting.append(next)
            }
        }
        #expect(reached.isDisjoint(with: wall.hidden), "\(wall.module) reaches \(reached.intersection(wall.hidden))")
        #expect(wall.hidden.isSubset(of: dependencies.keys), "\(wall.hidden)")
    }

    @Test func `the language is Swift 6`() async throws {
        #expect(try await Self.manifest.value.swiftLanguageVersions == ["6"])
    }

    /// Users, remedies and translations are Till's, and no proof states them.
    @Test func `the library has no Korean`() throws {
        for file in try sources() where Self.module(of: file) == "Proofs" {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(
                !text.unicodeScalars.contains { ("\u{AC00}"..."\u{D7A3}").contains($0) }, "\(file.lastPathComponent)")
        }
    }

    /// Each compiles many files: a copy of BoringSSL, HTTP/2 or SOCKS. Tests have `TestClient`, `EventListener` and
    /// `OracleTokens` in their place.
    @Test(arguments: [
        "AsyncHTTPClient", "Crypto", "CryptoExtras", "HummingbirdHTTP2", "HummingbirdTLS", "HummingbirdTesting",
        "JWTKit", "NIOCertificateReloading", "NIOHTTP2", "NIOSOCKS", "NIOSSL", "X509",
    ])
    func `no target, not even of tests, needs a package that takes long to compile`(product: String) async throws {
        let products = try await Self.manifest.value.targets.flatMap(\.dependencies).compactMap { $0.product?.first }
        #expect(products.contains("Hummingbird"))
        #expect(!products.contains(product))
    }

    /// A build finds modules that the manifest does not name, too, if another module has needed them.
    @Test func `each source file imports only what the manifest names for its module`() async throws {
        let dependencies = try await Self.manifest.value.dependencies
        for file in try sources() {
            let module = Self.module(of: file)
            let named = try #require(dependencies[module], "\(module)")
            let imported = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .compactMap { $0.hasPrefix("import ") ? String($0.dropFirst("import ".count)) : nil }
            let ours = Set(imported).intersection(dependencies.keys)
            #expect(ours.isSubset(of: named), "\(module)/\(file.lastPathComponent)")
        }
    }

    @Test func `each file that the architecture names is one of the sources`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "Documentation/Architecture.md"), encoding: .utf8)
        let names = Set(page.matches(of: /`([A-Za-z\/+]+\.swift)`/).map { String($0.1) })
        #expect(names.count > 100)
        let paths = try sources().map(\.path)
        for name in names { #expect(paths.count { $0.hasSuffix("/\(name)") } == 1, "\(name)") }
    }

    @Test func `the architecture lists the modules`() async throws {
        let page = try String(contentsOf: Self.root.appending(path: "Documentation/Architecture.md"), encoding: .utf8)
        let table = page.prefix(upTo: try #require(page.range(of: "The other folders:")).lowerBound)
        let listed = table.matches(of: /\n\| ((?:`\w+`(?:, )?)+) \|/).flatMap { row in
            row.1.matches(of: /\w+/).map { String($0.0) }
        }
        #expect(listed.sorted() == (try await Self.manifest.value).modules.map(\.name).sorted())
    }

    /// They reach the ledger through `HTTPSupport` alone, which reads API keys there.
    @Test(arguments: ["AppStore", "PlayStore"])
    func `the local stores name neither the ledger nor a feature`(module: String) async throws {
        let named = try #require(try await Self.manifest.value.dependencies[module])
        #expect(named.isDisjoint(with: ["Entitlements", "Features", "Ledger"]))
    }

    @Test func `each module, or each of its folders, has tests in a folder of its name`() async throws {
        for module in try await Self.manifest.value.modules where module.type != "system" {
            for name in Self.folders[module.name] ?? [module.name] {
                let folder = Self.root.appending(path: "Tests/\(name)", directoryHint: .isDirectory)
                let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(files.contains { $0.hasSuffix("Tests.swift") }, "\(name)")
            }
        }
    }

    @Test func `OpenSSL, curl and the databases are imported only by their own modules`() throws {
        for (name, rooms): (String, Set<String>) in [
            ("CCurl", ["HTTPSupport", "Service"]), ("COpenSSL", ["HTTPSupport", "Proofs"]), ("CPostgreSQL", ["Ledger"]),
            ("GRDBSQLite", ["Ledger"]),
            // Of `HTTPSupport`, the folder `LocalStores` alone (`FolderWallTests`).
            ("GRDB", ["AppStore", "HTTPSupport", "Ledger", "PlayStore"]),
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

    /// A type of stores is open, so that a ledger and an answer may have those of another store.
    @Test func `a setting, a command and a route take listed origins and stores alone`() throws {
        let open = /\b(Origin|PurchaseStore)(\(|\.init\()rawValue/
        for file in try sources() where ["HTTPSupport", "Service", "till"].contains(Self.module(of: file)) {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains(open), "\(file.lastPathComponent)")
        }
    }

    /// The terminal and the log escape what controls a terminal.
    @Test func `a command writes to standard output and standard error in one place`() throws {
        // A point between letters is no boundary of a word otherwise.
        let writing = /\bprint\(|\bf?puts\(|\bstd(out|err)\b|standard(Output|Error)\b/.wordBoundaryKind(.simple)
        let writers = try sources().filter { try String(contentsOf: $0, encoding: .utf8).contains(writing) }
        #expect(writers.map(\.lastPathComponent).sorted() == ["LogFormat.swift", "Terminal.swift"])
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
