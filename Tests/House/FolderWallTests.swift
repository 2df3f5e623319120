import Foundation
import TestSupport
import Testing

/// The walls between folders of one module, where no import says who uses whom. The names of types do.
@Suite struct FolderWallTests {
    /// The folders of the module `Features`, in order.
    static let features = Set(
        ((try? Project.files("Sources/Features", suffix: ".swift")) ?? []).map { $0.split(separator: "/") }
            .filter { $0.count > 3 }.map { String($0[2]) }
    ).sorted()

    /// The folders of `Features` that every other one may use. They use none.
    private static let shared = ["Credentials"]

    /// A folder below `Sources`, and the folders and files whose types it does not name.
    struct Wall: Sendable, CustomTestStringConvertible {
        let folder: String
        let hidden: [String]

        var testDescription: String { folder }
    }

    /// The files of `HTTPSupport` outside the folder `LocalStores`, which is about databases.
    private static let http = ((try? Project.files("Sources/HTTPSupport", suffix: ".swift")) ?? [])
        .filter { !$0.hasPrefix("Sources/HTTPSupport/LocalStores/") }.map { String($0.dropFirst("Sources/".count)) }

    static let walls =
        // A feature uses the shared folders and no other feature.
        features.map { feature in
            let used = shared.contains(feature) ? [feature] : shared + [feature]
            return Wall(
                folder: "Features/\(feature)",
                hidden: features.filter { !used.contains($0) }.map { "Features/\($0)" })
        } + [
            Wall(
                folder: "Proofs/Commerce",
                hidden: ["Proofs/GooglePlay", "Proofs/Receipts", "Proofs/Signatures", "Proofs/StrictJSON"]),
            Wall(folder: "Proofs/Signatures", hidden: ["Proofs/Commerce", "Proofs/GooglePlay", "Proofs/Receipts"]),
            Wall(
                folder: "Proofs/StrictJSON",
                hidden: ["Proofs/Commerce", "Proofs/GooglePlay", "Proofs/Receipts", "Proofs/Signatures"]),
            // The purchases of Google Play have nothing of Apple's forms.
            Wall(
                folder: "Proofs/GooglePlay", hidden: ["Proofs/Receipts/AppStoreServer", "Proofs/Receipts/Inspection"]),
            // The rules and the keys of the local App Store know no HTTP. The app knows only what crosses it.
            Wall(folder: "AppStore/Store", hidden: ["AppStore/Device", "AppStore/StoreHTTP"] + http),
            // Neither do the databases of the local stores.
            Wall(folder: "HTTPSupport/LocalStores", hidden: http),
            Wall(folder: "AppStore/Device", hidden: ["AppStore/Store", "AppStore/StoreHTTP", "Catalog"]),
            // What crosses HTTP knows no rule, and the rules know no route.
            Wall(folder: "PlayStore/Wire", hidden: ["PlayStore/Play", "PlayStore/PlayHTTP"]),
            Wall(folder: "Service/Doors", hidden: ["Service/Routes", "Service/Mailer", "Service/Accounts"]),
            Wall(folder: "Service/Mailer", hidden: ["Service/Accounts", "Service/Doors", "Service/Routes"]),
            Wall(folder: "Service/Routes", hidden: ["Service/Doors"]),
        ]

    /// A source file, by the names in it.
    private struct Source: Sendable {
        let path: String
        /// The types that it declares at its top level.
        let types: Set<String>
        /// The capitalized words of its code: no comments, no texts of strings.
        let words: Set<String>

        init(_ path: String) throws {
            self.path = path
            let code = try Project.text(path).replacing(/(?m)^ *\/\/.*$/, with: "")
                .replacing(/"""(?s:.*?)"""/, with: "\"\"").replacing(/"(?:[^"\\\n]|\\.)*"/, with: "\"\"")
            let declaration =
                /(?m)^(?:(?:package|public|final|indirect) )*(?:struct|enum|class|actor|protocol|typealias) (\w+)/
            types = Set(code.matches(of: declaration).map { String($0.1) })
            words = Set(code.matches(of: /\b[A-Z]\w*/).map { String($0.0) })
        }
    }

    /// The source files of the folders that have walls, and of those behind them, each read once.
    private static let sources = Result {
        try Project.files("Sources", suffix: ".swift").map(Source.init)
    }

    private static func sources(_ folder: String) throws -> [Source] {
        try sources.get().filter { $0.path == "Sources/\(folder)" || $0.path.hasPrefix("Sources/\(folder)/") }
    }

    @Test func `of the common parts of all routes, those of the local stores alone have a database`() throws {
        #expect(Self.http.count > 30)
        for file in Self.http { #expect(!(try Project.text("Sources/\(file)")).contains("import GRDB\n"), "\(file)") }
    }

    @Test(arguments: walls) func `a folder names no type behind its walls`(_ wall: Wall) throws {
        let hidden = Set(try wall.hidden.flatMap(Self.sources).flatMap(\.types))
        #expect(hidden.count > 5)
        for source in try Self.sources(wall.folder) {
            let named = hidden.intersection(source.words)
            #expect(named.isEmpty, "\(source.path) names \(named.sorted())")
        }
    }

    @Test func `the architecture lists the folders of the features`() throws {
        let page = try Project.text("Documentation/Architecture.md")
        let section = try #require(page.components(separatedBy: "\n### The folders of the features\n\n").last)
        let table = try #require(section.components(separatedBy: "\n\n").first)
        let listed = table.matches(of: /(?m)^\| `(\w+)` \|/).map { String($0.1) }
        #expect(listed.sorted() == Self.features)
        #expect(Set(Self.shared).isSubset(of: Self.features))
    }
}
