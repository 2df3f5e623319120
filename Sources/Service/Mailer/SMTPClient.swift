import Dispatch

/// A client of a mail server. Messages are sent on threads of its own, because libcurl blocks.
package struct SMTPClient: Sendable {
    /// The longest time in which an attempt ends.
    static let maximumTime = Duration.seconds(20)

    private static let threads = DispatchQueue(label: "till.mail", attributes: .concurrent)

    private let server: MailServer

    package init(server: MailServer) {
        self.server = server
    }

    /// Sends a message, and returns when the server has accepted it.
    ///
    /// - Throws: `MailFailure`.
    package func send(_ message: MailMessage) async throws(MailFailure) {
        let transfer = SMTPTransfer(server: server, message: message)
        let result = await withCheckedContinuation { continuation in
            Self.threads.async {
                continuation.resume(returning: Result { () throws(MailFailure) in try transfer.run() })
            }
        }
        try result.get()
    }
}
