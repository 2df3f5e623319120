import ArgumentParser
import Dispatch
import Foundation
import HTTPSupport
import Synchronization

struct DemoCommand: Command {
    static let configuration = CommandConfiguration(
        "demo", "Start a service, both local stores and the web console with a year of sales, to look around.",
        """
        Everything is in a temporary folder, which is deleted at the end (Ctrl-C). The same
        seed plays the same year. A back end of the demonstration receives webhooks, and
        verifies their signatures.
        """,
        examples: """
            till demo
            till demo --seed 7 --port 8080
            """)

    @Option(help: .value("n", "The number that decides the sales."))
    var seed: UInt64 = 1

    @Option(help: .value("n", "The port; 0 for any free one."))
    var port = 0

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requirePort(port)
        for (name, value) in [("--data", common.dataPath), ("--catalog", common.catalogPath)] {
            try require(
                value == nil, "The demonstration has a folder and a catalog of its own. Leave out \(name).")
        }
        try require(
            ProcessInfo.variable("TILL_LEDGER") == nil,
            "TILL_LEDGER names a database, and the demonstration has a ledger of its own. Unset it.")
    }

    func perform() async throws {
        ignoreSettings()
        let port = try ListeningPort.choose(port, at: ServerConfiguration().host)
        let folder = try DemoFolder()
        defer { folder.remove() }
        let shop = try await DemoShop(folder: folder.url, seed: seed, port: port)
        try await LoopbackServer.run({ shop.receiver.router() }) { [terminal] server in
            let webhook = DemoReceiver.url(at: server)
            let playing = Progress("Playing a year of sales")
            try await shop.play(sendingTo: webhook)
            playing.end()
            let (people, key) = (try await shop.addPeople(), try await shop.makeKey())
            try await shop.serve.run(shop.configuration, sandboxKey: SandboxKey()) { url, playURL in
                // The service handles signals from here on.
                folder.ignoreSignals()
                terminal.line("Console   \(url.absoluteString)/console")
                for (index, person) in people.enumerated() {
                    let label = index == 0 ? "Log in    " : "          "
                    terminal.line("\(label)\(person.name), password \(person.password) (\(person.right))")
                }
                if let playURL { terminal.line("Play      \(playURL.absoluteString), a local Google Play") }
                terminal.line("Webhook   \(webhook.absoluteString), which verifies signatures")
                terminal.line("API key   \(key)")
                terminal.line("Data      \(shop.dataPath)")
                terminal.line("Catalog   \(shop.catalogPath)")
                terminal.line("Stop      Ctrl-C")
                try? terminal.report([
                    "url": url.absoluteString, "name": people.first?.name, "password": people.first?.password,
                    "people": people.map(\.report), "webhook": webhook.absoluteString, "key": key,
                    "play": playURL?.absoluteString,
                    "data": shop.dataPath, "catalog": shop.catalogPath,
                ])
            }
        }
    }

    /// Removes the settings of other services from the environment, and names them.
    private func ignoreSettings() {
        let names = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("TILL_") }.sorted()
        guard !names.isEmpty else { return }
        names.forEach { unsetenv($0) }
        terminal.note("The demonstration has settings of its own. It ignores \(names.joined(separator: ", ")).")
    }
}

/// The temporary folder of a demonstration. Nobody else may read it.
final class DemoFolder: Sendable {
    let url: URL
    private let signals: Mutex<[any DispatchSourceSignal]>

    /// Creates the folder. A signal deletes it and ends the process, until the service handles signals itself.
    init() throws {
        let url = FileManager.default.temporaryDirectory
            .folder("till-demo-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.url = url
        let signals = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // Another thread may be adding files meanwhile.
                for _ in 0..<100 where url.isExistingFolder { try? FileManager.default.removeItem(at: url) }
                _exit(128 + number)
            }
            source.resume()
            return source
        }
        self.signals = Mutex(signals)
    }

    /// Leaves signals to the service.
    func ignoreSignals() {
        signals.withLock { $0.forEach { $0.cancel() } }
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
