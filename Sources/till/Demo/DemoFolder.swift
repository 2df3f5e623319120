import Dispatch
import Foundation

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
