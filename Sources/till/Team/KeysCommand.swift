import ArgumentParser
import Features
import HTTPSupport
import Ledger
import Proofs
import Vocabulary

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make, list and revoke the API keys of back ends and apps.",
        subcommands: [KeysMake.self, KeysList.self, KeysRevoke.self])
}

struct KeysList: LedgerUser {
    static let configuration = CommandConfiguration(
        "list", "List the API keys (secrets are not stored).",
        """
        The scope of an app's public key is its platform, such as "public apple". Its id is the key.

        LAST USED is at most about an hour old.
        """,
        examples: "till keys list")

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let keys = try await ledger.place().apiKeys().list()
        terminal.table(
            ["ID", "NAME", "PERSON", "SCOPES", "APP", "MADE", "EXPIRES", "LAST USED", "REVOKED"],
            keys.map { key in
                [
                    key.identifier, key.name, key.person,
                    key.platform.map { "public \($0)" } ?? key.scopes.joined(separator: ","), key.app,
                    key.createdAt.rfc3339, key.expiresAt?.rfc3339, key.lastUsedAt?.rfc3339,
                    key.revokedAt?.rfc3339,
                ]
            })
        try terminal.json(["keys": keys.map { $0.report() }])
    }
}

struct KeysRevoke: LedgerUser {
    static let configuration = CommandConfiguration(
        "revoke", "Revoke an API key. The service refuses it from the next request on.",
        examples: "till keys revoke 5e5ac1a1b2c3")

    @Argument(help: "The id of the key, from `till keys list`.")
    var id: String

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        guard try await ledger.place().apiKeys().revoke(id) else {
            try terminal.fail(
                code: "keyUnknown",
                message:
                    "No API key has the id \"\(id)\". \(common.hint("keys", "list", options: ledger.options)) lists the keys."
            )
        }
        try terminal.result("Revoked: \(id)", ["revoked": id])
    }
}

extension APIKeyRecord {
    /// The API key in the output of commands.
    ///
    /// - Parameter key: The key itself, which only the command that makes it prints.
    func report(key: String? = nil) -> Report {
        [
            "key": key, "keyId": identifier, "name": name, "person": person, "scopes": scopes, "app": app,
            "platform": platform, "createdAt": createdAt.rfc3339, "expiresAt": expiresAt?.rfc3339,
            "lastUsedAt": lastUsedAt?.rfc3339,
            "revokedAt": revokedAt?.rfc3339,
        ]
    }

    /// The scopes or the platform of the key, its app and its expiry, in sentences.
    var limits: String {
        let kind = platform.map { "Public key for \($0)." } ?? "Scopes: \(scopes.joined(separator: ", "))."
        let app = app.map { "App: \($0)." }
        let person = person.map { "Person: \($0)." }
        return ([kind, app, person, expiresAt.map { "Expires: \($0.rfc3339)." }] as [String?]).compactMap(\.self)
            .joined(separator: " ")
    }
}

struct KeysMake: LedgerUser {
    static let configuration = CommandConfiguration(
        "make", "Make an API key and show it once.",
        """
        A back end sends the key to `till serve` as a bearer token. The ledger stores only its hash.

        A public key (--public) is compiled into an app. It reads one customer by id and submits proofs; it grants nothing without a proof. An app has one for each platform.

        Scopes: \(APIKeyScope.allCases.map { "\($0.rawValue) (\($0.summary))" }.joined(separator: ", ")).
        """,
        examples: """
            till keys make "shop back end"
            till keys make dashboard --scope read
            till keys make "support desk" --scope support --scope grant
            till keys make "garden back end" --bundle-id com.example.garden
            till keys make contractor --scope read --until 90d
            till keys make "refunds of ada" --scope stores --person ada
            till keys make --public --bundle-id com.example.garden
            """)

    @Argument(help: "The name of the key. The audit log shows it (default with --public: the bundle identifier).")
    var name: String?

    @Flag(name: .customLong("public"), help: "Make the public key of an app, which anybody may see.")
    var isPublic = false

    @Option(
        help: .value(
            "platform",
            "The platform of the public key: \(AppPlatform.allCases.map(\.rawValue).joined(separator: ", ")) (default: apple)."
        ))
    var platform: AppPlatform?

    @Option(
        name: .customLong("scope"), parsing: .upToNextOption,
        help: .value(
            "scope",
            "A permission; may be repeated: \(ScopeArgument.allValueStrings.joined(separator: ", ")) (default: read and redeem)."
        ))
    var scopes: [ScopeArgument] = []

    @Option(
        name: .customLong("bundle-id"),
        help: .bundleIdentifier("the only one that the key is for; default: all apps of the service"))
    var app: String?

    @Option(
        help: .value(
            "name",
            "The person who holds the key; the name of the member, for one of the console. A key without a person approves nothing."
        ))
    var person: String?

    @Option(help: .end("of the key: a number of days (90d), \(Moment.form); default: none"))
    var until: String?

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        if let app { try requireBundleIdentifier(app) }
        try validateKind()
        if let person {
            try require(
                TeamMember.isName(person),
                "\"\(person.prefix(TeamMember.maximumNameLength))\" is not a person's name. Use the name of the member at the console."
            )
        }
        guard let name else { return }
        try require(
            APIKeys.isName(name),
            "\"\(name.prefix(APIKeys.maximumNameLength))\" is not a key's name. Use \(APIKeys.nameRule).")
    }

    private func validateKind() throws {
        guard isPublic else {
            try require(platform == nil, "--platform is for public keys. Add --public, or leave it out.")
            try require(name != nil, "Missing expected argument '<name>'")
            _ = try expiry(from: SystemClock().now())
            return
        }
        try require(app != nil, "A public key is for one app. Name it with --bundle-id.")
        try require(scopes.isEmpty, "A public key has no scopes. Leave out --scope.")
        try require(person == nil, "A public key is an app's. Leave out --person.")
        try require(
            until == nil, "A public key does not expire, because installed apps keep it. Leave out --until.")
    }

    /// The moment of the expiry; nil for a key without an expiry.
    private func expiry(from now: Timestamp) throws -> Timestamp? {
        guard let until else { return nil }
        guard let moment = KeyExpiry.moment(until, from: now) else {
            throw ValidationError(
                "--until must be a number of days from 1d to \(KeyExpiry.maximumDays)d, a date such as 2027-01-31 or a "
                    + "time such as 2027-01-31T12:00:00Z; it is \"\(until.prefix(64))\".")
        }
        try require(moment > now, "--until must be in the future; it is \"\(until.prefix(64))\".")
        return moment
    }

    func perform() async throws {
        let keys = try ledger.place(isNew: true).apiKeys(isNew: true)
        if let app, isPublic {
            let record = try await keys.makePublic(name: name ?? app, app: app, platform: platform ?? .apple)
            return try show(record, key: record.identifier)
        }
        let scopes = self.scopes.isEmpty ? APIKeyScope.standard : Set(self.scopes.flatMap(\.scopes))
        let (record, key) = try await keys.make(
            name: name ?? "", scopes: scopes, app: app, expiresAt: try expiry(from: SystemClock().now()),
            person: person)
        try show(record, key: key)
    }

    private func show(_ record: APIKeyRecord, key: String) throws {
        terminal.line(key)
        if !common.json {
            terminal.note(record.limits)
            if !isPublic {
                terminal.note(
                    "Store the key: it is not shown again. To revoke it: \(common.hint("keys", "revoke", record.identifier, options: ledger.options))"
                )
            }
        }
        try terminal.json(record.report(key: key))
    }
}

/// A scope on the command line, or all.
struct ScopeArgument: ExpressibleByArgument {
    static let allValueStrings = APIKeyScope.allCases.map(\.rawValue) + ["all"]

    let scopes: [APIKeyScope]

    init?(argument: String) {
        scopes = APIKeyScope.allCases.filter { [$0.rawValue, "all"].contains(argument) }
        guard !scopes.isEmpty else { return nil }
    }
}

extension AppPlatform: ExpressibleByArgument {}

/// A moment on the command line: the first one of a day in UTC, or a time.
struct Moment: ExpressibleByArgument {
    static let form = "a date (2027-01-31) or a time (2027-01-31T12:00:00Z)"

    let time: Timestamp

    init?(argument: String) {
        guard let time = CalendarDay(argument)?.start ?? Timestamp(internetDateTime: argument) else { return nil }
        self.time = time
    }
}

/// The expiry of an API key: a number of days, or a moment.
package enum KeyExpiry {
    static let maximumDays: Int64 = 36_500

    /// Reads `90d`, `2027-01-31` (its first moment in UTC) or `2027-01-31T12:00:00Z`.
    ///
    /// - Parameter now: The moment from which days count.
    /// - Returns: Nil for another text.
    package static func moment(_ text: String, from now: Timestamp) -> Timestamp? {
        guard text.hasSuffix("d") else { return Moment(argument: text)?.time }
        guard let days = Int64(text.dropLast()), (1...maximumDays).contains(days) else { return nil }
        return now.adding(days: days)
    }
}
