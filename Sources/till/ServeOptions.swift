import ArgumentParser
import Commerce

/// The options of `till serve`; those left out may stand in the environment or in the file.
struct ServeOptions: ParsableArguments {
    @Option(name: .customLong("config"), help: "A JSON file with the options.")
    var configurationFile: String?

    @Option(help: "The address to listen on (default: 127.0.0.1, this machine alone).")
    var host: String?

    @Option(help: "The port; 0 for any free one (default: 8080).")
    var port: Int?

    @Option(
        help: ArgumentHelp(
            "An origin whose proofs are accepted; may be repeated (default: those of a local store).",
            valueName: "origin"))
    var accept: [Origin] = []

    @Option(
        name: .customLong("sandbox-users"),
        help: ArgumentHelp(
            "A user who may buy in the sandbox of a service that sells, such as App Review: NAME, or \"ISSUER NAME\" for the "
                + "user of a token; may be repeated.", valueName: "user"))
    var sandboxUsers: [String] = []

    @Option(
        help: ArgumentHelp(
            "Whose a purchase is that another user presents: keep, transfer or transferIfInactive (default: keep).",
            valueName: "policy"))
    var ownership: String?

    @Option(
        help: ArgumentHelp(
            "How long a purchase that was transferred stays where it is (default: 2592000, 30 days).",
            valueName: "seconds"))
    var transferPauseSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "The number of the app in the App Store, which Apple's notifications have to state (default: any).",
            valueName: "number"))
    var appAppleId: Int?

    @Option(
        help: ArgumentHelp(
            "A PostgreSQL database as the ledger: postgres://user@host/database (default: a file in the data directory).",
            valueName: "url"))
    var ledger: String?

    @Option(help: ArgumentHelp("A certificate chain in PEM: serve TLS.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The certificate's key in PEM.", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "Who issues the tokens of apps' users (their `iss`): /v1/me is for them.", valueName: "issuer"))
    var jwtIssuer: String?

    @Option(help: ArgumentHelp("Whom the tokens have to be for (their `aud`).", valueName: "audience"))
    var jwtAudience: String?

    @Option(
        help: ArgumentHelp(
            "The issuer's JWK Set: a file, or the https address it is published at.", valueName: "file-or-url"))
    var jwtKeys: String?

    @Option(
        help: ArgumentHelp(
            "An algorithm that tokens may be signed with; may be repeated (default: RS256 and ES256).",
            valueName: "algorithm"))
    var jwtAlgorithms: [String] = []

    @Flag(help: "Let users sign up with e-mail and password: /v1/accounts and /v1/sessions.")
    var accounts = false

    @Option(
        help: ArgumentHelp(
            "The sender of mails about accounts: an address, or \"NAME <ADDRESS>\". With it, users confirm their address and "
                + "choose a new password by mail.", valueName: "address"))
    var mailFrom: String?

    @Option(
        help: ArgumentHelp(
            "The page of yours to which mailed links lead; the token follows after #.", valueName: "url"))
    var mailLinks: String?

    @Option(
        help: ArgumentHelp(
            "The mail server: smtp://HOST:PORT with STARTTLS, or smtps://HOST:PORT; without TLS only on this machine.",
            valueName: "url"))
    var mailServer: String?

    @Option(
        help: ArgumentHelp(
            "The certificates in PEM that the mail server's chain ends in (default: the system's).", valueName: "file"))
    var mailCertificates: String?

    @Option(help: ArgumentHelp("The user at the mail server.", valueName: "name"))
    var mailUsername: String?

    @Option(
        help: ArgumentHelp(
            "A file with the user's password, which TILL_MAIL_PASSWORD may have instead.", valueName: "file"))
    var mailPasswordFile: String?

    @Option(
        help: ArgumentHelp(
            "Your own mailer, which gets a request for each mail, instead of a mail server.", valueName: "url"))
    var mailWebhook: String?

    @Option(
        help: ArgumentHelp("A file with the mailer's address instead, if that has a secret in it.", valueName: "file"))
    var mailWebhookFile: String?

    @Option(
        help: ArgumentHelp(
            "A file with the secret that signs these requests (whsec_…), which TILL_MAIL_WEBHOOK_SECRET may have instead.",
            valueName: "file"))
    var mailWebhookSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "A folder with files such as reset.en.txt, which replace Till's own texts of mails.", valueName: "folder"))
    var mailTemplates: String?

    @Flag(help: "Let users have a profile and a wish list: /v1/me/profile and /v1/me/wishes.")
    var profiles = false

    @Flag(help: "Serve the app that Till began with in its own wire form: /v1/user.")
    var seedApp = false

    @Flag(help: "Let apps listen to what happens to their users: /v1/me/events.")
    var liveEvents = false

    @Flag(help: "Let back ends create, edit and withdraw products: /v1/catalog.")
    var catalogAdministration = false

    @Flag(help: "Keep the signed bytes of proofs, for till ledger check --proofs.")
    var keepProofs = false

    @Flag(help: "Tell back ends what happens to their users' purchases: /v1/webhooks.")
    var webhooks = false

    @Flag(help: "Keep sums of what was sold, and tell them: /v1/figures.")
    var figures = false

    @Flag(help: "Let webhooks be in networks that are not public, on this machine too, and without TLS.")
    var webhookPrivateAddresses = false

    @Option(
        help: ArgumentHelp(
            "How many proxies of yours stand before the service, each of which writes X-Forwarded-For (default: 0).",
            valueName: "n"))
    var proxies: Int?

    @Option(
        help: ArgumentHelp(
            "The .p8 file of a key from App Store Connect: ask the App Store what was missed.", valueName: "file"))
    var appStoreKey: String?

    @Option(help: ArgumentHelp("The key's identifier.", valueName: "identifier"))
    var appStoreKeyId: String?

    @Option(help: ArgumentHelp("The issuer's identifier.", valueName: "uuid"))
    var appStoreIssuerId: String?

    @Option(help: ArgumentHelp("Where the App Store Server API is, where it is not Apple's.", valueName: "url"))
    var appStoreUrl: String?

    @Option(
        help: ArgumentHelp(
            "How often missed notifications are asked for; 0 for never (default: 3600).", valueName: "seconds"))
    var reconcileSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "The same for the histories of all customers (default: 86400).", valueName: "seconds"))
    var reconcileCustomersSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "Answer what the App Store asks about refunds, for customers who have consented: DECLINE, GRANT_FULL, "
                + "GRANT_PRORATED or NONE.", valueName: "preference"))
    var refundPreference: String?

    @Flag(help: "In these answers, customers could try before they bought.")
    var sampleContentProvided = false

    @Option(help: ArgumentHelp("How many connections at once (default: 1024).", valueName: "n"))
    var maximumConnections: Int?

    @Option(
        help: ArgumentHelp(
            "How many of them from one address, unless --proxies says that clients share one (default: 256).",
            valueName: "n"))
    var maximumConnectionsPerAddress: Int?

    @Option(help: ArgumentHelp("How many event streams to one address (default: 64).", valueName: "n"))
    var maximumStreamsPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "The memory for request bodies, in MiB; one app or address gets a quarter (default: 32).",
            valueName: "n"))
    var maximumBodyMegabytes: Int?

    @Option(
        help: ArgumentHelp("Close a connection on which nothing comes for so long (default: 60).", valueName: "seconds")
    )
    var idleSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "Close a connection whose request is not answered in so long (default: 30).", valueName: "seconds"))
    var requestSeconds: Int?

    @Option(help: ArgumentHelp("How many requests each API key may send in a minute (default: 6000).", valueName: "n"))
    var requestsPerMinute: Int?

    @Option(help: ArgumentHelp("The same for each user of an app (default: 300).", valueName: "n"))
    var userRequestsPerMinute: Int?

    @Option(
        help: ArgumentHelp(
            "How long what is under way may take when the service is told to end (default: 30).", valueName: "seconds"))
    var graceSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "What is logged: trace, debug, info, notice, warning, error or critical (default: info).",
            valueName: "level")
    )
    var logLevel: String?

    @Option(
        help: ArgumentHelp(
            "The format of the log: text, or json for one JSON object a line (default: text).", valueName: "format"))
    var logFormat: String?
}

extension Origin: ExpressibleByArgument {}
