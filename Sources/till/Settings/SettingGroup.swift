import Catalog
import Entitlements
import HTTPSupport
import Ledger
import Logging
import Proofs
import Service

/// The settings of one section of the documentation.
package struct SettingGroup: Sendable {
    /// The section's heading.
    package let title: String
    package let settings: [Setting]

    package static let all = [service, ledger, purchases, users, team, appStore, googlePlay, mail, limits]
}

extension Setting {
    package static let all = SettingGroup.all.flatMap(\.settings)

    static func named(_ name: String) -> Setting? { byName[name] }

    /// The settings that most services need. `till serve --help` shows no others, and `--help-all` shows all.
    private static let shownFirst: Set = [
        "data", "catalog", "host", "port", "ledger", "tls-certificate", "tls-key", "proxies", "log-level", "accept",
        "ownership", "app-store-key", "app-store-key-id", "app-store-issuer-id", "google-service-account",
        "google-notifications-audience", "google-notifications-email", "jwt-issuer", "jwt-audience", "jwt-keys",
        "allowed-origins", "accounts", "mail-from", "mail-server", "doors", "live-events", "webhooks", "figures",
        "console", "catalog-administration",
    ]

    var isShownFirst: Bool { Self.shownFirst.contains(name) }

    private static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
}

extension SettingGroup {
    private static let standard = ServerConfiguration()

    static let service = SettingGroup(
        title: "Service",
        settings: [
            .text(
                "host", "address", standard: standard.host,
                "the address to listen on; by default, only this machine reaches it"),
            .number("port", 0...65_535, standard.port, "the port; 0 for any free one"),
            .text(
                "tls-certificate", "file", dependency: "tls-key",
                "the server's certificate chain in PEM; serves TLS 1.2 and later, with forward secrecy"),
            .text("tls-key", "file", dependency: "tls-certificate", "the certificate's key in PEM"),
            .number(
                "proxies", 0...16, 0,
                "the number of your proxies in front of the service; each adds the client's address to `X-Forwarded-For`, by which clients are counted"
            ),
            Setting(
                name: "log-level", kind: .choice(Logger.Level.allCases.map(\.rawValue)),
                defaultValue: .text(Logger.Level.info.rawValue),
                valueName: "level", description: "the lowest level that is logged; `info` logs each request"),
            Setting(
                name: "log-format", kind: .choice(LogFormat.allCases.map(\.rawValue)),
                defaultValue: .text(LogFormat.text.rawValue),
                valueName: "format",
                description:
                    "the form of the log; `json` is one JSON object a line, with `time`, `level`, `label`, `message` and `metadata`"
            ),
        ])

    static let ledger = SettingGroup(
        title: "Ledger",
        settings: [
            Setting(
                name: "data", kind: .text, defaultValue: .text(".till"), valueName: "folder", isCommon: true,
                description: "the directory of the ledger and the trusted certificates"),
            Setting(
                name: "ledger", kind: .text, defaultBehaviour: "a file in the data directory", valueName: "url",
                redacted: { (try? PostgreSQLAddress($0))?.description ?? "postgres://…" },
                reference: "[Production](Production.md#the-ledger-in-postgresql)",
                description:
                    "a PostgreSQL database as the ledger: `postgres://user@host/database`; other commands do not read this setting"
            ),
            Setting(
                name: "ledger-direct-url", kind: .text, valueName: "url", dependency: "ledger",
                redacted: { (try? PostgreSQLAddress($0))?.description ?? "postgres://…" },
                reference: "[Production](Production.md#connection-poolers)",
                description:
                    "the server's own address, if `ledger` leads to a pooler that gives each transaction another session"
            ),
            Setting(
                name: "ledger-replicas", kind: .text, valueName: "url", dependency: "ledger",
                redacted: { (try? PostgreSQLAddress($0))?.description ?? "postgres://…" },
                reference: "[Production](Production.md#reads-from-standbys)",
                description:
                    "the address of the PostgreSQL standbys that may answer reads which state a position; several hosts, if there are several"
            ),
            .number(
                "ledger-wait-seconds", 0...86_400, 60, valueName: "seconds", dependency: "ledger",
                "the time for which the start waits for the database server; 0 for none"),
            .flag(
                "keep-proofs", reference: "[Production](Production.md#kept-proofs)",
                "keeps the signed bytes of each proof, and each certificate once, for `till ledger check --proofs`"),
            .flag(
                "allow-reset", reference: "[Testing](Testing.md#reset-between-tests)",
                "lets a suite empty the ledger between its tests, if `accept` has the origins of local stores and Xcode alone"
            ),
        ])

    static let purchases = SettingGroup(
        title: "Purchases",
        settings: [
            Setting(
                name: "catalog", kind: .text,
                defaultBehaviour:
                    "the one that the local stores of the data directory have sold last, else the catalog that comes with Till",
                valueName: "folder", isCommon: true,
                description: "the folder of the catalog: `Till.storekit` and `Items.json`"),
            Setting(
                name: "app-apple-id", kind: .number(1...Int.max), defaultBehaviour: "any", valueName: "number",
                description: "the number of the app in the App Store, which Apple's notifications must state"),
            Setting(
                name: "apps", kind: .apps, reference: "[Several apps](#several-apps)",
                description: "a list of apps, in the file alone"),
            Setting(
                name: "accept", kind: .choices(Origin.allCases.map(\.rawValue)),
                defaultValue: .texts(Origin.defaultAccepted.map(\.rawValue).sorted()), valueName: "origin",
                description: "the accepted [origins](Concepts.md#origins)"),
            .texts(
                "sandbox-users", "user",
                "the users who may buy in the sandbox of a service that accepts `apple/Production` (or `local/Production`), such as App Review's account: `NAME` for a user of the back end, `ISSUER NAME` for the user of a token (`jwt-issuer`) or an account (`till`)"
            ),
            Setting(
                name: "ownership", kind: .choice(["keep", "transfer", "transferIfInactive"]),
                defaultValue: .text("keep"), valueName: "policy",
                reference: "[API](API.md#ownership)",
                description: "the policy for a user who presents another user's purchase"),
            .number(
                "transfer-pause-seconds", 0...315_360_000, Int(OwnershipPolicy.defaultPauseSeconds),
                valueName: "seconds", dependency: "ownership",
                "the time for which a transferred purchase stays with its owner: 30 days"),
            .number(
                "erased-purchase-claim-days", 0...3650, Int(OwnershipPolicy.defaultErasedClaimDays),
                valueName: "days",
                "the days after the erasure of a purchase's owner from which on its proof is enough to own it, under each `ownership`"
            ),
            .number(
                "key-tables", 0...32, ProofVerifier.standardKeyTables,
                "the most keys of the App Store, of those that sign most proofs, for which a table of 150 KB halves the time of a signature; 0 for none"
            ),
        ])

    static let appStore = SettingGroup(
        title: "App Store",
        settings: [
            .text(
                "app-store-key", "file",
                "the `.p8` file of a key from App Store Connect, with which the service fetches missed notifications"),
            .text("app-store-key-id", "identifier", dependency: "app-store-key", "the key's identifier"),
            .text("app-store-issuer-id", "uuid", dependency: "app-store-key", "the issuer's identifier"),
            .text(
                "app-store-url", "url", otherwise: "Apple's, by origin", dependency: "app-store-key",
                "the address of the App Store Server API, of a local store for example"),
            .number(
                "reconcile-seconds", 0...86_400, 3600, valueName: "seconds", dependency: "app-store-key",
                "the interval between fetches of missed notifications, from the start on; 0 for never"),
            .number(
                "reconcile-customers-seconds", 0...(30 * 86_400), 86_400, valueName: "seconds",
                dependency: "app-store-key", "the same for the history of every customer"),
            Setting(
                name: "refund-preference", kind: .choice(RefundPreference.allCases.map(\.rawValue) + ["NONE"]),
                valueName: "preference", dependency: "app-store-key",
                description:
                    "the preference in answers to Apple's questions about refunds; set it only if your customers have consented"
            ),
            .flag(
                "sample-content-provided", dependency: "refund-preference",
                "says in these answers that customers could try before they bought"),
            Setting(
                name: "rescinded-consent", kind: .choice(ConsentPolicy.allCases.map(\.rawValue)),
                defaultValue: .text(ConsentPolicy.keep.rawValue), valueName: "policy", dependency: "app-store-key",
                reference: "[Production](Production.md#withdrawn-consent)",
                description:
                    "the effect of a parent's withdrawal of consent on the child's purchases: `keep` leaves them, `block` revokes them"
            ),
        ])

    static let googlePlay = SettingGroup(
        title: "Google Play",
        settings: [
            .text(
                "google-service-account", "file", reference: "[Google Play](GooglePlay.md#set-up-in-production)",
                "the JSON key file of a service account, with which the service asks Google Play about purchase tokens and acknowledges purchases"
            ),
            .text(
                "google-play-url", "url", otherwise: "Google's", dependency: "google-service-account",
                "the address of the Play Developer API, of a local Google Play for example"),
            .text(
                "google-notifications-audience", "audience", dependency: "google-service-account",
                reference: "[Google Play](GooglePlay.md#real-time-developer-notifications)",
                "the audience of the identity tokens with which Pub/Sub pushes notifications, which opens `/v1/notifications/google`"
            ),
            .text(
                "google-notifications-email", "address", dependency: "google-notifications-audience",
                "the e-mail address of the service account that these tokens are of"),
            .text(
                "google-certificates-url", "url", standard: PushTokens.standardKeys,
                dependency: "google-notifications-audience",
                "the address of the keys that sign these tokens: `https`, or `http` on this machine"),
            .text(
                "google-refuse-consumed-before", "date", dependency: "google-service-account",
                reference: "[Google Play](GooglePlay.md#consumed-purchases)",
                "the date or time before which a purchase that is consumed already at its first redemption is refused, because an earlier back end has delivered it"
            ),
            Setting(
                name: "google-refund-preference", kind: .choice(GoogleRefundPreference.allCases.map(\.rawValue)),
                valueName: "preference", dependency: "google-service-account",
                reference: "[Google Play](GooglePlay.md#disputed-payments)",
                description:
                    "the preference in answers to Google's questions about disputed payments; set it only if your customers have consented"
            ),
            .flag(
                "google-sample-content-provided", dependency: "google-refund-preference",
                "says in these answers that customers could try before they bought"),
        ])

    static let limits = SettingGroup(
        title: "Limits",
        settings: [
            .number("maximum-connections", 1...100_000, standard.maximumConnections, "the limit on connections"),
            .number(
                "maximum-connections-per-address", 1...100_000,
                standard.maximumConnectionsPerAddress ?? standard.maximumConnections,
                "the limit on connections of one address; with `proxies`, on its requests under way; an IPv4 /24 or IPv6 /48 gets a quarter of all, or as many"
            ),
            .number(
                "maximum-streams-per-address", 1...100_000, EventListeners<Int64>().perAddress,
                "the limit on event streams of one address; an IPv4 /24 or IPv6 /48 gets a quarter of all, or as many"),
            .number(
                "maximum-body-megabytes", 16...65_536, 64,
                "the memory for request bodies, in MiB; one user, IPv4 /24 or IPv6 /48 gets a quarter, and one address an eighth"
            ),
            .number(
                "idle-seconds", 1...86_400, Int(standard.idleTime.components.seconds), valueName: "seconds",
                "the time after which a silent connection is closed"),
            .number(
                "request-seconds", 1...3600, Int(standard.requestTime.components.seconds), valueName: "seconds",
                "the time in which a request must be answered"),
            Setting(
                name: "retention-milliseconds", kind: .number(50...10_000),
                defaultValue: .number(RouteSettings.retentionMilliseconds), valueName: "milliseconds",
                reference: "[Production](Production.md#retention-messages)",
                description:
                    "the time for the choice of a retention message, after which the App Store shows its default one"),
            .number(
                "requests-per-minute", 1...10_000_000, standard.requestLimits.perKey, "the rate limit of each API key"),
            .number(
                "user-requests-per-minute", 1...10_000_000, standard.requestLimits.perUser,
                "the rate limit of each user of an app"),
            .number(
                "address-requests-per-minute", 1...10_000_000, standard.requestLimits.perPublicKeyAddress,
                "the rate limit of each address with a public key; of IPv6, of each /64; 16 times as much of each IPv4 /24 or IPv6 /48"
            ),
            .number(
                "newcomer-megabytes-per-day", 1...1_000_000, standard.requestLimits.newcomerBytesPerDay >> 20,
                "what public keys and signed-up users may write in a day for customers without a purchase, in MiB; an IPv4 /24 or IPv6 /48 gets a quarter at most"
            ),
            .number(
                "address-newcomer-kilobytes-per-day", 1...1_000_000,
                standard.requestLimits.newcomerBytesPerAddress >> 10,
                "the part of one address, in KiB; of IPv6, of each /64; 16 times as much of each IPv4 /24 or IPv6 /48"),
            .number(
                "storage-reserve-megabytes", 0...100_000_000, 256,
                "the free space beside a ledger in a file below which only purchases, notifications and back ends write, in MiB, an eighth of the disk at most; 0 for none"
            ),
            .number(
                "grace-seconds", 0...3600, Int(standard.gracePeriod.components.seconds), valueName: "seconds",
                "the time for requests under way when the service stops"),
        ])

    static let users = SettingGroup(
        title: "Users",
        settings: [
            .text("jwt-issuer", "issuer", "the issuer of users' tokens (`iss`), which opens `/v1/me`"),
            .text(
                "jwt-audience", "audience", dependency: "jwt-issuer",
                "the audience of these tokens: a value of their `aud`"),
            .text(
                "jwt-keys", "file-or-url", dependency: "jwt-issuer",
                "the issuer's JWK Set: a file, or its https address"),
            Setting(
                name: "jwt-algorithms", kind: .choices(TokenAlgorithm.allCases.map(\.rawValue)),
                defaultValue: .texts(["ES256", "RS256"]), valueName: "algorithm", dependency: "jwt-issuer",
                description: "the accepted algorithms of tokens"),
            .texts(
                "allowed-origins", "origin", reference: "[API](API.md#pages-in-browsers)",
                "the origins of your own pages, such as `https://shop.example.com`, whose browsers may call the routes for apps"
            ),
            .texts(
                "blocked-user-names", "name", reference: "[API](API.md#blocked-names)",
                "further names and ids that stand for no user, like `null` and `guest`, which are always blocked"),
            .flag("accounts", reference: "[API](API.md#accounts)", "lets users sign up with e-mail and password"),
            .flag(
                "profiles", reference: "[API](API.md#profiles-and-wishes)",
                "lets users have a nickname, choose items to wear, and wish for products"),
            .flag(
                "live-events", reference: "[API](API.md#live-events)",
                "lets apps listen to the changes of their users; each listener uses one of `maximum-connections`"),
            Setting(
                name: "doors", kind: .choices(Door.allCases.map(\.rawValue)), valueName: "door",
                reference: "[Doors](Doors.md)",
                description: "speaks the protocols of other purchase servers, for apps whose SDKs know them"),
            .flag(
                "seed-app", dependency: "jwt-issuer", reference: "[API](API.md#the-seeds-app)",
                "serves the app that Till began with in its own wire form, under `/v1/user`"),
        ])

    static let team = SettingGroup(
        title: "Team",
        settings: [
            .flag(
                "catalog-administration", reference: "[API](API.md#catalog-administration)",
                "lets back ends create, edit and withdraw products"),
            .flag(
                "webhooks", reference: "[API](API.md#webhooks)", "sends back ends the changes of their users' purchases"
            ),
            .flag(
                "webhook-private-addresses",
                "lets webhooks and `forward-notifications` be in private networks, on this machine, and without TLS"),
            .texts(
                "forward-notifications", "url", reference: "[Production](Production.md#forwarded-notifications)",
                "the addresses of further servers that receive each verified notification, byte for byte: `https`, up to 5"
            ),
            .text(
                "forward-notifications-file", "file", "a file with these addresses, one a line, if they contain secrets"
            ),
            Setting(
                name: "store-action-approval", kind: .choices(StoreAction.Kind.allCases.map(\.rawValue)),
                valueName: "action", reference: "[API](API.md#store-actions)",
                description: "the actions at stores that a second person must approve"),
            .flag("figures", reference: "[Figures](Figures.md)", "keeps sums of sales, and answers with figures"),
            .flag(
                "console", reference: "[Console](Console.md)",
                "serves the web console at `/console`; `till console add-user` adds people"),
        ])

    static let mail = SettingGroup(
        title: "Mail",
        settings: [
            .text("mail-from", "address", dependency: "accounts", "the sender: an address, or `NAME <ADDRESS>`"),
            .text(
                "mail-links", "url", dependency: "accounts",
                "your page to which links lead: `https`, a scheme of your app, or `http` on this machine; the token follows after `#`"
            ),
            .text(
                "mail-server", "url", dependency: "accounts",
                "the mail server: `smtp://HOST:PORT` with STARTTLS (port 587 by default), or `smtps://HOST:PORT` with TLS from the first byte (465). A server on this machine is reached without TLS, unless `mail-certificates` is set"
            ),
            .text(
                "mail-certificates", "file", otherwise: "the system's", dependency: "mail-server",
                "the certificates, in PEM, in which the mail server's chain must end"),
            .text("mail-username", "name", dependency: "mail-server", "the user at the mail server"),
            Setting(
                name: "mail-password", kind: .text, dependency: "mail-server", isSecret: true,
                description: "the user's password, in the environment or the file alone"),
            .text(
                "mail-password-file", "file", dependency: "mail-server",
                "a file with the user's password, instead of `mail-password`"),
            .text(
                "mail-webhook", "url", dependency: "accounts",
                "the address of your own mailer instead of a server: `https`, or `http` on this machine"),
            .text(
                "mail-webhook-file", "file", dependency: "accounts", "a file with this address, if it contains a secret"
            ),
            Setting(
                name: "mail-webhook-secret", kind: .text, dependency: "mail-webhook", isSecret: true,
                description:
                    "the secret that signs its requests, in the environment or the file alone: `whsec_` and 24 bytes or more in base64"
            ),
            .text(
                "mail-webhook-secret-file", "file", dependency: "mail-webhook",
                "a file with this secret, instead of `mail-webhook-secret`"),
            .text(
                "mail-templates", "folder", otherwise: "Till's own", dependency: "accounts",
                "a folder with texts that replace Till's own, such as `reset.en.txt`"),
        ])
}
