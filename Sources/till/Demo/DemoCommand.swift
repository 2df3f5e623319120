import ArgumentParser
import Dispatch
import Foundation

/// `till demo`
struct DemoCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Start a service, a local App Store and the web console with a year of sales, to look around.",
        discussion: """
            Everything is in a temporary folder, which is deleted at the end (Ctrl-C). The same
            seed plays the same year.

            Examples:
              till demo
              till demo --seed 7 --port 8080
            """)

    @Option(help: ArgumentHelp("The number that decides the sales.", valueName: "n"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("The port; 0 for any free one.", valueName: "n"))
    var port = 0

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port must be a number from 0 to 65535; it is \"\(port)\".")
        }
    }

    func perform() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "till-demo-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let interruption = Self.removeOnInterruption(folder)
        let shop = try DemoShop(folder: folder, seed: seed, port: port)
        if !common.json { console.note("Playing a year of sales …") }
        try await shop.play()
        let (password, key) = (try await shop.addMember(), try await shop.makeKey())
        // The service handles signals from here on.
        interruption.forEach { $0.cancel() }
        let console = console
        try await shop.serve.run(shop.configuration, sandboxKey: SandboxKey()) { url, _ in
            console.line("Console   \(url.absoluteString)/console")
            console.line("Log in    \(DemoShop.member), password \(password)")
            console.line("API key   \(key)")
            console.line("Data      \(folder.path)/data")
            console.line("Stop      Ctrl-C")
            try? console.json([
                "url": url.absoluteString, "name": DemoShop.member, "password": password, "key": key,
                "data": folder.path + "/data", "catalog": folder.path + "/catalog",
            ])
        }
    }

    /// Deletes the folder and ends the process if a signal arrives while the year is played.
    private static func removeOnInterruption(_ folder: URL) -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                try? FileManager.default.removeItem(at: folder)
                exit(128 + number)
            }
            source.resume()
            return source
        }
    }
}
