import AppStore
import ArgumentParser
import Foundation
import HTTPSupport
import Logging
import Proofs
import Service

/// `till store serve`, also run by `till store`.
struct StoreServe: Command {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the store: Apple's server API, verifyReceipt, and the sandbox.",
        discussion: """
            Examples:
              till store serve
              till store serve --products Garden.storekit --bundle-id com.example.garden
              till store serve --notifications-url http://127.0.0.1:3000/apple
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 for any free one.")
    var port = 8081

    @Option(
        help: ArgumentHelp(
            "A StoreKit configuration of Xcode. The store sells its products from now on.", valueName: "file"))
    var products: String?

    @Option(help: ArgumentHelp("The app's bundle identifier; needed with --products.", valueName: "identifier"))
    var bundleId: String?

    @Option(help: "The environment in the store's proofs: Sandbox or Production.")
    var environment: AppStoreEnvironment?

    @Option(
        help: ArgumentHelp(
            "The app's number in the App Store, for proofs of the environment Production.",
            valueName: "number"))
    var appAppleId: Int64?

    @Option(help: ArgumentHelp("The address that receives notifications.", valueName: "url"))
    var notificationsURL: ServerURL?

    @Flag(help: "Serve TLS for Apple's host names. Clients must trust the store's own certificate authority.")
    var tls = false

    @Option(help: "The lowest level that is logged: trace, debug, info, notice, warning, error or critical.")
    var logLevel: Logger.Level = .notice

    @OptionGroup var sandbox: SandboxKeyOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (products == nil) == (bundleId == nil) else {
            throw ValidationError("Name both --products and --bundle-id, or neither.")
        }
        guard environment == nil && appAppleId == nil || products != nil else {
            throw ValidationError("Name the app with --environment or --app-apple-id: --products and --bundle-id.")
        }
        guard environment == nil || environment == .sandbox || environment == .production else {
            throw ValidationError("--environment must be Sandbox or Production.")
        }
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port must be a number from 0 to 65535; it is \"\(port)\".")
        }
    }

    func perform() async throws {
        let key = try sandbox.key()
        try OpenFiles.allow(connections: ServerConfiguration().maximumConnections)
        let data = common.dataDirectory
        try data.prepare()
        if let products, let bundleId {
            try StoreApp(
                bundleIdentifier: bundleId, products: products, environment: environment,
                appAppleIdentifier: appAppleId, storeFolder: data.storeFolder,
                catalogFolder: data.catalogFolder
            ).keep(in: data.storeFolder, catalogFolder: data.catalogFolder)
        }
        let store = try data.store()
        if let notificationsURL { _ = try store.update { $0.notificationsURL = notificationsURL.url } }
        var logger = Logger(label: "till.store")
        logger.logLevel = logLevel
        let identity =
            tls
            ? try ServerIdentity(
                folder: data.storeFolder.appending(path: "tls", directoryHint: .isDirectory), clock: SystemClock(),
                randomness: .system) : nil
        let server = ServiceServer(
            router: StoreRoutes(store: store, sandboxKey: key.apiKey).router,
            backgroundServices: [NotificationSender(store: store, logger: logger)],
            configuration: ServerConfiguration(
                host: host, port: port,
                tls: identity.map { ServerConfiguration.TLS(certificate: $0.certificate, key: $0.key) }), logger: logger
        )
        let terminal = terminal
        try await server.run { url in
            terminal.line("Listening on \(url.absoluteString)")
            terminal.line(key.line)
            if let authority = identity?.authority.path { terminal.line("Authority: \(authority)") }
            try? terminal.json(
                ["url": url.absoluteString, "sandboxKey": key.printed, "authority": identity?.authority.path]
                    .compactMapValues(\.self))
        }
    }
}

/// An HTTP or HTTPS address on the command line.
struct ServerURL: ExpressibleByArgument {
    let url: URL

    init?(argument: String) {
        guard let url = URL(string: argument), let scheme = url.scheme, ["http", "https"].contains(scheme),
            url.host()?.isEmpty == false
        else { return nil }
        self.url = url
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
