import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test where no mail server could be installed.
    public static var withMailServer: Self {
        .enabled(if: MailServerProcess.isAvailable, "Scripts/mail-server.sh has installed no mail server")
    }
}
