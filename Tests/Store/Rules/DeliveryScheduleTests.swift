import AppStore
import HTTPSupport
import Proofs
import Testing

/// The moments at which a notification is sent.
@Suite struct DeliveryScheduleTests {
    @Test(
        arguments: [
            (nil, 0), (.drop, nil), (.delay(seconds: 60), 60), (.duplicate, 0), (.reorder, 0),
        ] as [(NotificationFault?, Int64?)])
    func `a fault delays or drops the first attempt`(fault: NotificationFault?, seconds: Int64?) {
        #expect(
            DeliverySchedule.firstAttempt(at: RuleFixture.now, fault)
                == seconds.map { RuleFixture.now.adding(seconds: $0) })
    }

    @Test(
        arguments: [
            (.production, .socketIssue, 0, false, 1), (.production, .timedOut, 1, false, 12),
            (.production, .noResponse, 2, false, 24), (.production, .other, 3, false, 48),
            (.production, .tlsIssue, 4, false, 72), (.production, .socketIssue, 5, false, nil),
            (.sandbox, .socketIssue, 0, false, nil),
            // Delivered.
            (.production, .success, 2, false, nil), (.production, .success, 0, true, 0),
            (.sandbox, .success, 0, true, 0),
        ] as [(AppStoreEnvironment, SendAttemptResult, Int, Bool, Int64?)])
    func `production retries on Apple's schedule`(
        environment: AppStoreEnvironment,
        result: SendAttemptResult,
        failures: Int,
        isRepeated: Bool,
        hours: Int64?
    ) {
        let next = DeliverySchedule.nextAttempt(
            after: result, at: RuleFixture.now, failures: failures, isRepeated: isRepeated, in: environment)
        #expect(next == hours.map { RuleFixture.now.adding(seconds: $0 * 3600) })
    }
}
