import AppStore
import ArgumentParser
import HTTPSupport
import Ledger
import Proofs

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
            till keys make "garden back end" --app com.example.garden
            till keys make contractor --scope read --expires 90d
            till keys make --public --app com.example.garden
            """)

    @Argument(help: "The name of the key. The audit log shows it (default with --public: the bundle identifier).")
    var name: String?

    @Flag(name: .customLong("public"), help: "Make the public key of an app, which anybody may see.")
    var isPublic = false

    @Option(
        help: ArgumentHelp(
            "The platform of the public key: \(AppPlatform.allCases.map(\.rawValue).joined(separator: ", ")) (default: apple).",
            valueName: "platform"))
    var platform: AppPlatform?

    @Option(
        name: .customLong("scope"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "A permission; may be repeated: \(APIKeyScope.allCases.map(\.rawValue).joined(separator: ", ")) (default: read and redeem).",
            valueName: "scope"))
    var scopes: [APIKeyScope] = []

    @Option(
        help: ArgumentHelp(
            "The bundle identifier of the only app that the key is for (default: all apps of the service).",
            valueName: "bundle-id"))
    var app: String?

    @Option(
        help: ArgumentHelp(
            "The end of the key: a number of days (90d), a date (2027-01-31) or a time (2027-01-31T12:00:00Z) (default: none).",
            valueName: "expiry"))
    var expires: String?

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        if let app { try requireBundleIdentifier(app) }
        try validateKind()
        guard let name else { return }
        try require(
            User(name: name.replacing(" ", with: "_")) != nil && name.utf8.count <= APIKeys.maximumNameLength,
            "\"\(name.prefix(APIKeys.maximumNameLength))\" is not a key's name. Use 1 to \(APIKeys.maximumNameLength) bytes, "
                + "without control characters.")
    }

    private func validateKind() throws {
        guard isPublic else {
            try require(platform == nil, "--platform is for public keys. Add --public, or leave it out.")
            try require(name != nil, "Missing expected argument '<name>'")
            _ = try expiry(from: SystemClock().now())
            return
        }
        try require(app != nil, "A public key is for one app. Name it with --app.")
        try require(scopes.isEmpty, "A public key has no scopes. Leave out --scope.")
        try require(
            expires == nil, "A public key does not expire, because installed apps keep it. Leave out --expires.")
    }

    /// The moment of the expiry; nil for a key without an expiry.
    private func expiry(from now: Timestamp) throws -> Timestamp? {
        guard let expires else { return nil }
        guard let moment = KeyExpiry.moment(expires, from: now) else {
            throw ValidationError(
                "--expires must be a number of days from 1d to \(KeyExpiry.maximumDays)d, a date such as 2027-01-31 or a "
                    + "time such as 2027-01-31T12:00:00Z; it is \"\(expires.prefix(64))\".")
        }
        try require(moment > now, "--expires must be in the future; it is \"\(expires.prefix(64))\".")
        return moment
    }

    func perform() async throws {
        let keys = try ledger.place(isNew: true).apiKeys(isNew: true)
        if let app, isPublic {
            let record = try await keys.makePublic(name: name ?? app, app: app, platform: platform ?? .apple)
            return try show(record, key: record.identifier)
        }
        let scopes = self.scopes.isEmpty ? APIKeyScope.standard : Set(self.scopes)
        let (record, key) = try await keys.make(
            name: name ?? "", scopes: scopes, app: app, expiresAt: try expiry(from: SystemClock().now()))
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

extension APIKeyScope: ExpressibleByArgument {}

extension AppPlatform: ExpressibleByArgument {}

/// The expiry of an API key: a number of days, or a moment.
package enum KeyExpiry {
    /// The largest number of days.
    static let maximumDays: Int64 = 36_500

    /// Reads `90d`, `2027-01-31` (its first moment in UTC) or `2027-01-31T12:00:00Z`.
    ///
    /// - Parameter now: The moment from which days count.
    /// - Returns: Nil for another text.
    package static func moment(_ text: String, from now: Timestamp) -> Timestamp? {
        guard text.hasSuffix("d") else { return CalendarDay(text)?.start ?? Timestamp(internetDateTime: text) }
        guard let days = Int64(text.dropLast()), (1...maximumDays).contains(days) else { return nil }
        return now.adding(days: days)
    }
}
