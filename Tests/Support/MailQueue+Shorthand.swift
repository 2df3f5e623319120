import Features

extension MailQueue {
    /// Takes due mails, as a sender does.
    package func lease(upTo limit: Int) async throws -> [LeasedMail] {
        let due = try await due(upTo: limit)
        return due.isEmpty ? [] : try await lease(due)
    }
}
