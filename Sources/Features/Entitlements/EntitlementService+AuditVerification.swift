import Ledger

/// The verification of the audit logs.
extension EntitlementService {
    /// Verifies the next page of the audit logs of all users.
    package func verifyAudit(continuing verification: AuditVerification) async throws -> AuditVerification {
        try await ledger.verifyAudit(continuing: verification)
    }
}
