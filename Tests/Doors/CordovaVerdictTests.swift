import Entitlements
import HTTPSupport
import Proofs
import Service
import Testing
import Vocabulary

/// The choice between a verdict and a temporary problem.
@Suite struct CordovaVerdictTests {
    private static let types: [ByteKey: ProductType] = ["seeds": .consumable, "gate": .nonConsumable]

    private func refusal(_ lines: [(String, Redemption.Result)]) -> RedemptionError? {
        CordovaRefusal.reason(
            lines.enumerated().map { index, line in
                Redemption.Line(transactionId: String(index), productId: line.0, result: line.1)
            }, types: Self.types)
    }

    @Test func `recorded transactions may be finished`() {
        #expect(refusal([]) == nil)
        for result in [Redemption.Result.granted, .alreadyRedeemed, .revoked] {
            #expect(refusal([("seeds", result)]) == nil)
        }
    }

    @Test func `a proof without a recorded transaction is refused`() {
        #expect(refusal([("gate", .ownedByAnotherUser)]) == .purchaseRefused(.ownedByAnotherUser))
        #expect(refusal([("gate", .productUnknown)]) == .purchaseRefused(.productUnknown))
        // The reason that may end comes first.
        #expect(
            refusal([("gate", .ownedByAnotherUser), ("gate", .transferTooSoon)]) == .purchaseRefused(.transferTooSoon))
    }

    @Test func `a consumable that may be redeemed later is not lost`() {
        #expect(refusal([("gate", .granted), ("seeds", .productUnknown)]) == .purchaseRefused(.productUnknown))
        #expect(refusal([("gate", .granted), ("other", .productUnknown)]) == .purchaseRefused(.productUnknown))
        #expect(refusal([("seeds", .granted), ("gate", .productUnknown)]) == nil)
        // Its owner has it already.
        #expect(refusal([("gate", .granted), ("seeds", .ownedByAnotherUser)]) == nil)
    }

    @Test(arguments: RevenueCatErrorTests.codes)
    func `only a permanent refusal has the status 200`(code: String) {
        let problem = Problem(status: .badRequest, code: code, detail: "Details.", retryAfter: 7)
        let json = CordovaRefusal.json(of: problem)
        let isPermanent = RevenueCatErrorRule(code: code).safety.isPermanent
        let response = CordovaRefusal.response(to: problem)
        #expect(response.status == (isPermanent ? .ok : .serviceUnavailable))
        #expect(response.headers[.retryAfter] == "7")
        #expect(json.at("ok") == .bool(false))
        #expect(json.at("status") == .integer(400))
        #expect(json.at("code") == .integer(isPermanent ? 6_777_017 : 6_777_014))
    }

    @Test func `an unknown problem is temporary`() {
        let unknown = Problem(status: .badRequest, code: "unheard", detail: "Details.")
        #expect(CordovaRefusal.response(to: unknown).status == .serviceUnavailable)
    }
}
