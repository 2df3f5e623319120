import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test if no mail server is installed.
    package static var withMailServer: Self {
        .enabled(if: MailServerProcess.isAvailable, "Scripts/mail-server.sh has installed no mail server")
    }
}
