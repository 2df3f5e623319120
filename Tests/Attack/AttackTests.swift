import Foundation
import NIOCore
import Testing

/// The service under attack (`make attack`): other clients get their answers, memory and disk are bounded, and SIGTERM stops it.
///
/// Its limits of time are far above what an attacked service takes (see the printed lines), because attacker, service and other
/// work share the processors. A service that an attack stops answers no probe until the attack ends, which is later.
@Suite(
    .serialized, .timeLimit(.minutes(3)), .enabled(if: ProcessInfo.processInfo.environment["TILL_ATTACK"] != nil))
struct AttackTests {
    private static let memoryLimit = 256 << 20
    /// The time that the end of the process may take after the grace period.
    private static let endTolerance = Duration.seconds(10)

    private func expectAnswers(
        during attack: some Attack,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await AttackRunner.run(attack)
        print(report.line)
        let details = Comment(rawValue: report.details)
        #expect(report.connections > 0, details, sourceLocation: sourceLocation)
        #expect(report.health.percentile(0.99) < .seconds(1), details, sourceLocation: sourceLocation)
        #expect(report.health.worst < .seconds(4), details, sourceLocation: sourceLocation)
        for probe in report.slowProbes {
            #expect(report[probe].worst < Probe.limit, "\(probe): \(details)", sourceLocation: sourceLocation)
        }
        #expect(
            report.end.duration < AttackedService.gracePeriod + Self.endTolerance, details,
            sourceLocation: sourceLocation)
        #expect(report.end.status == 0, details, sourceLocation: sourceLocation)
        #expect(report.memory.peak < Self.memoryLimit, details, sourceLocation: sourceLocation)
        for finding in report.findings {
            #expect(finding.isWithinLimits, "\(finding): \(details)", sourceLocation: sourceLocation)
        }
    }

    @Test func `clients get answers while bodies hold strings of quadratic cost`() async throws {
        try await expectAnswers(during: QuadraticBodies())
    }

    @Test func `clients get answers while headers hold strings of quadratic cost`() async throws {
        try await expectAnswers(during: QuadraticHeaders())
    }

    /// A limit per address does not help against several addresses.
    @Test(arguments: [1, 8])
    func `clients get answers while addresses flood the service with connections`(addressCount: Int) async throws {
        try await expectAnswers(during: ConnectionFlood(addressCount: addressCount))
    }

    @Test func `clients get answers while one user holds back the ends of large bodies`() async throws {
        try await expectAnswers(during: HalfSentBodies())
    }

    @Test func `clients get answers and streams while one address hoards event streams`() async throws {
        try await expectAnswers(during: StreamHoard())
    }

    @Test func `genuine notifications get answers while strangers send junk`() async throws {
        try await expectAnswers(during: JunkNotifications())
    }

    @Test func `memory is bounded while clients read none of the answers to their requests`() async throws {
        try await expectAnswers(during: UnreadAnswers())
    }

    @Test func `clients get answers while slow clients drip request heads`() async throws {
        try await expectAnswers(during: SlowLoris())
    }

    @Test(arguments: [1, 8])
    func `the ledger stays small while addresses invent customers`(addressCount: Int) async throws {
        try await expectAnswers(during: try InventedCustomers(addressCount: addressCount))
    }

    @Test func `customers redeem and read while 150 addresses use up what they may with one public key`() async throws {
        try await expectAnswers(during: SharedPublicKey())
    }

    @Test func `users log in and sign up while one network floods the service with log-ins`() async throws {
        try await expectAnswers(during: LogInFlood())
    }

    @Test func `new customers and users are recorded while one network writes what it may`() async throws {
        try await expectAnswers(during: NewcomerFlood())
    }

    @Test func `large purchases are redeemed while one network holds back the ends of bodies`() async throws {
        try await expectAnswers(during: HalfSentBodiesOfNetwork())
    }

    @Test func `customers get their purchases of Google Play while one network presents tokens without end`()
        async throws
    {
        try await expectAnswers(during: try await TokenFlood())
    }

    @Test func `purchases are redeemed while log-ins merge customers as large as possible`() async throws {
        try await expectAnswers(during: try await CustomerMerges())
    }
}
