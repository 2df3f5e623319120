import Foundation
import Hummingbird
import Logging

/// A server with Hummingbird alone. Its speed is the reference for the service's.
///
/// Usage: `Hello`. It prints its address.
@main
struct Hello {
    static func main() async throws {
        let router = Router()
        router.get("/") { _, _ in "Hello" }
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                // Written without buffering, because a script waits for the line.
                let line = "Listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n"
                FileHandle.standardOutput.write(Data(line.utf8))
            },
            logger: Logger(label: "hello", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await application.runService()
    }
}
