import Foundation
import Hummingbird
import Logging

/// What Hummingbird answers when it has nothing to do: the measure of everything that is served with it.
///
/// Usage: `Hello`; prints its address.
@main
struct Hello {
    static func main() async throws {
        let router = Router()
        router.get("/") { _, _ in "Hello" }
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                // At once: a script waits for it.
                let line = "Listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n"
                FileHandle.standardOutput.write(Data(line.utf8))
            },
            logger: Logger(label: "hello", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await application.runService()
    }
}
