/// The work of the running service: times of the last minutes, and waiting work.
package struct HealthPerformance: Sendable {
    /// The times of one kind of work in the last minutes.
    package struct Times: Sendable {
        /// The number of full minutes before this one.
        let minutes: Int
        let count: Int
        /// Nil without work in these minutes, as the others.
        let median: Duration?
        let percentile99: Duration?
        let maximum: Duration?

        package init(minutes: Int, count: Int, median: Duration?, percentile99: Duration?, maximum: Duration?) {
            self.minutes = minutes
            self.count = count
            self.median = median
            self.percentile99 = percentile99
            self.maximum = maximum
        }
    }

    /// The periods of the tables, in minutes.
    package static let periods = [1, 5, 15]

    /// The commits, for each period.
    let commits: [Times]
    /// The requests, for each period.
    let requests: [Times]
    let requestsInFlight: Int
    /// The number of use cases and reads that wait for a commit or a thread.
    let waitingUseCases: Int
    /// The number of other jobs that wait for a thread, such as verifications.
    let waitingJobs: Int

    package init(commits: [Times], requests: [Times], requestsInFlight: Int, waitingUseCases: Int, waitingJobs: Int) {
        self.commits = commits
        self.requests = requests
        self.requestsInFlight = requestsInFlight
        self.waitingUseCases = waitingUseCases
        self.waitingJobs = waitingJobs
    }
}
