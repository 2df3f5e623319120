import ArgumentParser
import Dispatch
import Foundation

struct DemoCommand: Command {
    static let configuration = CommandConfiguration(
        "demo", "Start a service, a local App Store and the web console with a year of sales, to look around.",
        """
        Everything is in a temporary folder, which is deleted at the end (Ctrl-C). The same
        seed plays the same year.
        """,
        examples: """
            till demo
            till demo --seed 7 --port 8080
            """)

    @Option(help: ArgumentHelp("The number that decides the sales.", valueName: "n"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("The port; 0 for any free one.", valueName: "n"))
    var port = 0

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try require((0...65_535).contains(port), "--port must be a number from 0 to 65535; it is \"\(port)\".")
        for (name, value) in [("--data", common.dataPath), ("--catalog", common.catalogPath)] {
            try require(
                value == nil, "The demonstration has a folder and a catalog of its own. Leave out \(name).")
        }
        try require(
            ProcessInfo.variable("TILL_LEDGER") == nil,
            "TILL_LEDGER names a database, and the demonstration has a ledger of its own. Unset it.")
    }

    func perform() async throws {
        let folder = try DemoFolder()
        defer { folder.remove() }
        let shop = try DemoShop(folder: folder.url, seed: seed, port: port)
        try shop.requirePort()
        if !common.json { terminal.note("Playing a year of sales …") }
        try await shop.play()
        let (password, key) = (try await shop.addMember(), try await shop.makeKey())
        // The service handles signals from here on.
        folder.ignoreSignals()
        let terminal = terminal
        try await shop.serve.run(shop.configuration, sandboxKey: SandboxKey()) { url, _ in
            terminal.line("Console   \(url.absoluteString)/console")
            terminal.line("Log in    \(DemoShop.member), password \(password)")
            terminal.line("API key   \(key)")
            terminal.line("Data      \(shop.dataPath)")
            terminal.line("Stop      Ctrl-C")
            try? terminal.json([
                "url": url.absoluteString, "name": DemoShop.member, "password": password, "key": key,
                "data": shop.dataPath, "catalog": shop.catalogPath,
            ])
        }
    }
}

/// The temporary folder of a demonstration. Nobody else may read it.
struct DemoFolder {
    let url: URL
    private let signals: [any DispatchSourceSignal]

    /// Creates the folder. A signal deletes it and ends the process, until the service handles signals itself.
    init() throws {
        let url = FileManager.default.temporaryDirectory
            .appending(path: "till-demo-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.url = url
        signals = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                try? FileManager.default.removeItem(at: url)
                exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    /// Leaves signals to the service.
    func ignoreSignals() {
        signals.forEach { $0.cancel() }
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
