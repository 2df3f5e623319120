import Proofs

/// A reconciliation of one app with one address of the App Store Server API.
package struct ConsoleReconciliation: Sendable {
    /// The kind of statements that a run fetches.
    package enum Subject: String, Sendable, CaseIterable {
        /// The notifications since the last run.
        case notifications
        /// The histories of all customers.
        case histories
    }

    /// A run that has ended in this process.
    package struct Run: Sendable {
        package let startedAt: Timestamp
        package let endedAt: Timestamp
        /// The code of the error; nil for a complete run.
        package let errorCode: String?

        package init(startedAt: Timestamp, endedAt: Timestamp, errorCode: String?) {
            self.startedAt = startedAt
            self.endedAt = endedAt
            self.errorCode = errorCode
        }
    }

    /// The state of a subject.
    package struct State: Sendable {
        package let subject: Subject
        /// The interval between runs, in seconds; nil if runs happen only on request.
        package let interval: Int64?
        /// The moment until which the last complete run of any process has fetched; nil if there was none.
        package let reconciledUntil: Timestamp?
        /// The number of each outcome of that run; nil if they are unknown.
        package let findings: [String: Int]?
        /// The last run of this process, complete or failed; nil if there was none.
        package let lastRun: Run?
        /// True if a run is under way or requested.
        package let isRunning: Bool

        package init(
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

    package let identifier: String
    /// The bundle identifier of the app.
    package let app: String
    /// The address of the App Store Server API.
    package let address: String
    /// The origins of the purchases that the address knows.
    package let origins: [Origin]
    package let states: [State]

    package init(identifier: String, app: String, address: String, origins: [Origin], states: [State]) {
        self.identifier = identifier
        self.app = app
        self.address = address
        self.origins = origins
        self.states = states
    }
}
