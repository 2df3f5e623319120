import AppStore
import ArgumentParser
import Foundation
import HTTPSupport
import Logging
import Proofs
import ServiceLifecycle
import Synchronization
import Vocabulary

/// `till store serve`, also run by `till store`.
struct StoreServe: Command {
    static let configuration = CommandConfiguration(
        "serve", "Run the store: Apple's server API, verifyReceipt, and the sandbox.",
        "Test suites that run at once have a store each in memory: put /stores/NAME before the paths of their requests.",
        examples: """
            till store serve
            till store serve --products Garden.storekit --bundle-id com.example.garden
            till store serve --notifications-url http://127.0.0.1:3000/apple
            till store serve --as-apple
            till store serve --as-apple -- swift test
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 for any free one.")
    var port = 8081

    @Option(help: .value("file", "A StoreKit configuration of Xcode. The store sells its products from now on."))
    var products: String?

    @Option(help: .value("identifier", "The app's bundle identifier; needed with --products."))
    var bundleId: String?

    @Option(help: "The environment in the store's proofs: Sandbox, Production or LocalTesting.")
    var environment: AppStoreEnvironment?

    @Option(
        help: .value(
            "number",
            "The app's number in the App Store, for proofs of the environment Production and realtime requests."))
    var appAppleId: Int64?

    @Option(help: .value("url", "The address that receives notifications."))
    var notificationsURL: URL?

    @Option(
        help: .value(
            "url",
            "The address at which verifiers reach the store, for the OCSP responder in its certificates (default: the address it listens on)."
        ))
    var publicURL: URL?

    @Flag(help: "Serve TLS for Apple's host names. Clients must trust the store's own certificate authority.")
    var tls = false

    @Flag(
        help: ArgumentHelp(
            "Be Apple for unmodified clients: TLS on 127.0.0.1:443, in a network of the store's own. Prints the command that "
                + "runs a client in it."))
    var asApple = false

    @Argument(
        parsing: .postTerminator,
        help: .value(
            "command",
            "A command after --, which is started in the network of --as-apple and in the working directory. The store ends with it, and with its status."
        ))
    var command: [String] = []

    @OptionGroup var options: LocalStoreOptions

    var common: CommonOptions { options.common }

    func validate() throws {
        try require((products == nil) == (bundleId == nil), "Name both --products and --bundle-id, or neither.")
        if let bundleId { try requireBundleIdentifier(bundleId) }
        try require(
            environment == nil && appAppleId == nil || products != nil,
            "Name the app with --environment or --app-apple-id: --products and --bundle-id.")
        try require(
            environment != .xcode,
            "--environment must be Sandbox, Production or LocalTesting. Proofs of Xcode come from its own test session."
        )
        try require(
            !asApple || host == "127.0.0.1" && port == 8081,
            "--as-apple serves 127.0.0.1:443. Leave out --host and --port.")
        try require(command.isEmpty || asApple, "A command after -- needs --as-apple.")
        try requirePort(port)
    }

    func perform() async throws {
        let key = try options.sandbox.key()
        try OpenFiles.allow(connections: ServerConfiguration().maximumConnections)
        let data = common.dataDirectory
        try data.prepare()
        let identity = tls || asApple ? try identity(in: data) : nil
        if asApple, let namespace = try identity.map(AppleNamespace.init), !namespace.isEntered {
            try namespace.enter()
        }
        if let products, let bundleId {
            try StoreApp.keep(
                bundleId, products: products, environment: environment, appAppleIdentifier: appAppleId, in: data)
        }
        let store = try data.store()
        if let notificationsURL { _ = try store.update { $0.notificationsURL = notificationsURL } }
        let logger = options.logger("till.store")
        var configuration = ServerConfiguration()
        (configuration.host, configuration.port) = (host, asApple ? 443 : port)
        configuration.tls = identity.map { ($0.certificate, $0.key) }
        let terminal = terminal
        let client = asApple ? AppleNamespace.nsenter : nil
        let authority = identity?.authority.absoluteURL.path
        let started = command.isEmpty ? nil : ClientCommand(command, trusting: authority, sandboxKey: key.printed)
        let starting = DelayedService { try await started?.run() }
        let publicURL = publicURL
        try await ServiceServer.run(
            store.routes(sandboxKey: key.apiKey).router(logger: logger),
            backgroundServices: [store.notificationSending(logger: logger)] + (started == nil ? [] : [starting]),
            configuration: configuration, logger: logger
        ) { url in
            store.announceResponder(at: publicURL ?? url, logger: logger)
            terminal.line("Listening on \(url.absoluteString)")
            terminal.line(key.line)
            if let authority { terminal.line("Authority: \(authority)") }
            if let client { terminal.line("Clients: \(client) COMMAND") }
            try? terminal.report([
                "url": url.absoluteString, "sandboxKey": key.printed, "authority": authority, "nsenter": client,
            ])
            starting.begin()
        }
        if let status = started?.status, status != 0 { throw ExitCode(status) }
    }

    /// The certificate for Apple's host names. It is made at each start, and its authority once.
    private func identity(in data: DataDirectory) throws -> ServerIdentity {
        try ServerIdentity(
            folder: data.storeFolder.folder("tls"), clock: SystemClock(),
            randomness: .system)
    }
}

/// An HTTP or HTTPS address on the command line.
extension URL: @retroactive ExpressibleByArgument {
    public init?(argument: String) {
        self.init(web: argument)
    }
}

/// A command in the network of a store, which ends with it.
private final class ClientCommand: Sendable {
    private let command: [String]
    private let environment: [String: String]
    private let ended = Mutex<Int32?>(nil)

    /// - Parameters:
    ///   - authority: The file of the store's certificate authority, for clients with certificates of their own.
    ///   - sandboxKey: The random key; nil for a fixed one, which the caller knows.
    init(_ command: [String], trusting authority: String?, sandboxKey: String?) {
        self.command = command
        environment = [
            "REQUESTS_CA_BUNDLE": authority, "NODE_EXTRA_CA_CERTS": authority, SandboxKeyOptions.variable: sandboxKey,
        ].compactMapValues(\.self)
    }

    /// The status with which the command has ended; 128 and its number for a signal. Nil if the store has ended first.
    var status: Int32? { ended.withLock { $0 } }

    /// Runs the command, and then stops the store. The end of the store stops the command.
    func run() async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["--"] + command
        process.environment = environment.merging(ProcessInfo.processInfo.environment) { $1 }
        let (ends, ending) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            let status = process.terminationStatus
            ending.yield(process.terminationReason == .exit ? status : 128 + status)
            ending.finish()
        }
        try process.run()
        await cancelWhenGracefulShutdown {
            for await status in ends { self.ended.withLock { $0 = status } }
        }
        guard status != nil else { return process.terminate() }
        // The store ends as after Ctrl-C: requests under way are answered.
        kill(getpid(), SIGTERM)
        try await gracefulShutdown()
    }
}

/// A network of a store's own, in which Apple's host names lead to the store. It is for clients whose address cannot be changed.
///
/// The network has this machine's loopback alone, and the host names and the authority are known in it alone. Both end with the
/// process, so nothing outside changes.
struct AppleNamespace {
    private static let hostsFile = "/etc/hosts"
    /// The certificates that OpenSSL, curl and swift-nio-ssl trust on Debian and Ubuntu.
    private static let trustFile = "/etc/ssl/certs/ca-certificates.crt"
    /// Runs in the new namespaces: the files replace those of the system, and the command replaces the shell.
    private static let script = """
        set -e
        "$1" link set lo up
        mount --bind "$2" \(hostsFile)
        mount --bind "$3" \(trustFile)
        shift 3
        exec "$@"
        """

    private let hosts: URL
    private let trust: URL

    /// Writes the files of the namespace beside the store's certificate.
    init(_ identity: ServerIdentity) throws {
        let folder = identity.authority.deletingLastPathComponent()
        hosts = folder.file("hosts")
        trust = folder.file("trust.pem")
        let names = ServerIdentity.hostNames.filter { $0 != "127.0.0.1" }
        try Data("127.0.0.1 \(names.joined(separator: " "))\n::1 localhost\n".utf8).write(to: hosts, options: .atomic)
        // In the namespace, the file is the one that was written before.
        guard !isEntered else { return }
        guard let known = try? Data(contentsOf: URL(filePath: Self.trustFile)) else {
            throw Self.failure("\(Self.trustFile) is missing. Install the package ca-certificates.")
        }
        try (known + Data(contentsOf: identity.authority)).write(to: trust, options: .atomic)
    }

    /// True in the namespace, and on a machine whose own host names lead to the store.
    var isEntered: Bool {
        FileManager.default.contentsEqual(atPath: hosts.path, andPath: Self.hostsFile)
    }

    /// Starts this command again, in the namespace.
    func enter() throws -> Never {
        let command = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let own = geteuid() == 0 ? [] : ["--user", "--map-root-user"]
        let unshare = try Self.tool("unshare", package: "util-linux")
        let arguments =
            [unshare] + own + ["--net", "--mount", "--", "/bin/sh", "-c", Self.script, "till"]
            + [try Self.tool("ip", package: "iproute2"), hosts.path, trust.path, command]
            + CommandLine.arguments.dropFirst()
        var pointers = arguments.map { strdup($0) } + [nil]
        execv(unshare, &pointers)
        throw Self.failure("\(unshare) could not be started: \(String(cString: strerror(errno))).")
    }

    /// The command that runs another one in the namespace of this process.
    static var nsenter: String {
        // The identities of the first user namespace are mapped to themselves.
        let identities = (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)) ?? ""
        let user = identities.contains("4294967295") ? "" : " --user --preserve-credentials"
        return "nsenter --target \(ProcessInfo.processInfo.processIdentifier)\(user) --net --mount --"
    }

    private static func tool(_ name: String, package: String) throws -> String {
        let paths = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map { "\($0)/\(name)" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else {
            throw failure("The command \(name) is missing. Install the package \(package).")
        }
        return path
    }

    private static func failure(_ sentence: String) -> CommandError {
        CommandError("namespaceFailed", "A network of the store's own cannot be made. \(sentence)")
    }
}
