import AppStoreClient
import ArgumentParser
import Commerce
import HTTPSupport
import Service
import StoreHTTP
import Wire

/// `till keys make`
struct KeysMake: Command {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Make an API key, and show it this once.",
        discussion: """
            A back end sends it to `till serve` as a bearer token. The data directory keeps only its hash.

            Scopes: \(APIKeyScope.allCases.map { "\($0.rawValue) (\($0.summary))" }.joined(separator: ", ")).

            Examples:
              till keys make "shop back end"
              till keys make dashboard --scope read
              till keys make "support desk" --scope support --scope grant
              till keys make "garden back end" --app com.example.garden
            """)

    @Argument(help: "What the key is for, in words of yours.")
    var name: String

    @Option(
        name: .customLong("scope"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "What it allows: \(APIKeyScope.allCases.map(\.rawValue).joined(separator: ", ")) (default: read and redeem).",
            valueName: "scope"))
    var scopes: [APIKeyScope] = []

    @Option(
        help: ArgumentHelp(
            "The bundle identifier of the only app that the key is for (default: all apps of the service).",
            valueName: "bundle-id"))
    var app: String?

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let app {
            let isIdentifier = app.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".") || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & ~0x20)
            }
            guard isIdentifier, (1...155).contains(app.utf8.count) else {
                throw ValidationError(
                    "\"\(app.prefix(155))\" is no bundle identifier. It has letters, digits, hyphens and dots, as in com.example.app."
                )
            }
        }
        guard User(name: name.replacing(" ", with: "_")) != nil, name.utf8.count <= APIKeys.maximumNameLength else {
            throw ValidationError(
                "A key's name has 1 to \(APIKeys.maximumNameLength) bytes, without control characters.")
        }
    }

    func perform() async throws {
        let scopes = self.scopes.isEmpty ? APIKeyScope.standard : Set(self.scopes)
        let (record, key) = try await ledger.place(common, isNew: true).apiKeys(isNew: true)
            .make(name: name, scopes: scopes, app: app)
        console.line(key)
        if !common.json {
            console.note(
                "Keep it: it is not shown again. To end it: \(common.hint("keys", "revoke", record.identifier))")
        }
        try console.json(Made(key: key, report: APIKeyReport(record)))
    }

    private struct Made: Encodable {
        let key: String
        let report: APIKeyReport

        enum CodingKeys: String, CodingKey {
            case key
        }

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(key, forKey: .key)
        }
    }
}

extension APIKeyScope: ExpressibleByArgument {}
