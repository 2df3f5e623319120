import Features
import HTTPSupport
import Ledger
import Logging
import Proofs

extension SettingGroup {
    private static let standard = ServerConfiguration()

    static let service = SettingGroup(
        title: "Service",
        settings: [
            Setting(
                "host", .text, default: .value(.text(standard.host)), valueName: "address",
                "the address to listen on; by default, only this machine reaches it"),
            Setting(
                "port", .number(0...65_535), default: .value(.number(standard.port)), valueName: "n",
                "the port; 0 for any free one"),
            Setting(
                "tls-certificate", .text, valueName: "file", dependency: "tls-key",
                "the server's certificate chain in PEM; serves TLS 1.2 and later"),
            Setting(
                "tls-key", .text, valueName: "file", dependency: "tls-certificate", "the certificate's key in PEM"),
            Setting(
                "proxies", .number(0...16), default: .value(.number(0)), valueName: "n",
                "the number of your proxies in front of the service; each adds the client's address to `X-Forwarded-For`, by which clients are counted"
            ),
            Setting(
                "log-level", .choice(Logger.Level.allCases.map(\.rawValue)),
                default: .value(.text(Logger.Level.info.rawValue)), valueName: "level",
                "the lowest level that is logged; `info` logs each request"),
            Setting(
                "log-format", .choice(LogFormat.allCases.map(\.rawValue)),
                default: .value(.text(LogFormat.text.rawValue)), valueName: "format",
                "the form of the log; `json` is one JSON object a line, with `time`, `level`, `label`, `message` and `metadata`"
            ),
        ])

    static let ledger = SettingGroup(
        title: "Ledger",
        settings: [
            Setting(
                "data", .text, default: .value(.text(".till")), valueName: "folder", isCommon: true,
                "the directory of the ledger and the trusted certificates"),
            Setting(
                "ledger", .text, default: .described("a file in the data directory"), valueName: "url",
                redacted: { (try? PostgreSQLAddress($0))?.description ?? "postgres://…" },
                reference: "[Production](Production.md#the-ledger-in-postgresql)",
                "a PostgreSQL database as the ledger: `postgres://user@host/database`; other commands do not read this setting"
            ),
            .flag(
                "keep-proofs", reference: "[Production](Production.md#kept-proofs)",
                "keeps the signed bytes of each proof, and each certificate once, for `till ledger check --proofs`"),
        ])

    static let purchases = SettingGroup(
        title: "Purchases",
        settings: [
            Setting(
                "catalog", .text, default: .described("the catalog that comes with Till"), valueName: "folder",
                isCommon: true, "the folder of the catalog: `Till.storekit` and `Items.json`"),
            Setting(
                "app-apple-id", .number(1...Int.max), default: .described("any"), valueName: "number",
                "the number of the app in the App Store, which Apple's notifications must state"),
            Setting("apps", .apps, reference: "[Several apps](#several-apps)", "a list of apps, in the file alone"),
            Setting(
                "accept", .choices(Origin.allCases.map(\.rawValue)),
                default: .value(.texts(Origin.defaultAccepted.map(\.rawValue).sorted())), valueName: "origin",
                "the accepted [origins](Concepts.md#origins)"),
            Setting(
                "sandbox-users", .texts, valueName: "user",
                "the users who may buy in the sandbox of a service that accepts `apple/Production` (or `local/Production`), such as App Review's account: `NAME` for a user of the back end, `ISSUER NAME` for the user of a token (`jwt-issuer`) or an account (`till`)"
            ),
            Setting(
                "ownership", .choice(["keep", "transfer", "transferIfInactive"]),
                default: .value(.text(OwnershipPolicy.keep.name)), valueName: "policy",
                reference: "[API](API.md#ownership)",
                "the policy for a user who presents another user's purchase"),
            Setting(
                "transfer-pause-seconds", .number(0...315_360_000),
                default: .value(.number(Int(OwnershipPolicy.defaultPauseSeconds))), valueName: "seconds",
                dependency: "ownership",
                "the time for which a transferred purchase stays with its owner: 30 days"),
        ])
}
