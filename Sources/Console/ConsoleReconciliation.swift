import Proofs

/// A reconciliation of one app with one address of the App Store Server API.
public struct ConsoleReconciliation: Sendable {
    /// The kind of statements that a run fetches.
    public enum Subject: String, Sendable, CaseIterable {
        /// The notifications since the last run.
        case notifications
        /// The histories of all customers.
        case histories
    }

    /// A run that has ended in this process.
    public struct Run: Sendable {
        public let startedAt: Timestamp
        public let endedAt: Timestamp
        /// The code of the error; nil for a complete run.
        public let errorCode: String?

        public init(startedAt: Timestamp, endedAt: Timestamp, errorCode: String?) {
            self.startedAt = startedAt
            self.endedAt = endedAt
            self.errorCode = errorCode
        }
    }

    /// The state of a subject.
    public struct State: Sendable {
        public let subject: Subject
        /// The interval between runs, in seconds; nil if runs happen only on request.
        public let interval: Int64?
        /// The moment until which the last complete run of any process has fetched; nil if there was none.
        public let reconciledUntil: Timestamp?
        /// The number of each outcome of that run; nil if they are unknown.
        public let findings: [String: Int]?
        /// The last run of this process, complete or failed; nil if there was none.
        public let lastRun: Run?
        /// True if a run is under way or requested.
        public let isRunning: Bool

        public init(
            subject: Subject,
            interval: Int64?,
            reconciledUntil: Timestamp?,
            findings: [String: Int]?,
            lastRun: Run?,
            isRunning: Bool
        ) {
            self.subject = subject
            self.interval = interval
            self.reconciledUntil = reconciledUntil
            self.findings = findings
            self.lastRun = lastRun
            self.isRunning = isRunning
        }
    }

    public let identifier: String
    /// The bundle identifier of the app.
    public let app: String
    /// The address of the App Store Server API.
    public let address: String
    /// The origins of the purchases that the address knows.
    public let origins: [Origin]
    public let states: [State]

    public init(identifier: String, app: String, address: String, origins: [Origin], states: [State]) {
        self.identifier = identifier
        self.app = app
        self.address = address
        self.origins = origins
        self.states = states
    }
}
