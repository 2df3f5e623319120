import HTTPSupport
import Proofs

extension RefundRequest: SandboxRequest {
    static let fields = ["reason"]

    func requestReason() throws(Problem) -> ConsumptionRequestReason {
        guard let reason = ConsumptionRequestReason(rawValue: reason ?? "OTHER") else {
            throw SandboxBody.invalid(
                "The field /reason has to be one of "
                    + ConsumptionRequestReason.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return reason
    }

    func revocationReason() throws(Problem) -> RevocationReason {
        switch reason {
        case nil, "other": .refundedForOtherReason
        case "issue": .refundedDueToIssue
        default: throw SandboxBody.invalid("The field /reason must be issue or other.")
        }
    }
}
