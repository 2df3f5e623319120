import Catalog
import Entitlements
import Features
import HTTPSupport
import Ledger
import Proofs
import Testing
import Vocabulary

/// The problem documents of errors, by their rules.
@Suite struct ErrorRuleTests {
    private static let errors: [(any Error, Int, String, Bool)] = [
        (RedemptionError.refused(ProofRefusal(.tooLarge)), 413, "tooLarge", false),
        (RedemptionError.refused(ProofRefusal(.signatureInvalid)), 422, "signatureInvalid", false),
        (RedemptionError.refused(ProofRefusal(.signedInFuture)), 422, "signedInFuture", true),
        (RedemptionError.refused(ProofRefusal(.revocationUnavailable)), 422, "revocationUnavailable", true),
        (RedemptionError.notRedeemable, 422, "notRedeemable", false),
        (RedemptionError.purchaseRefused(.productUnknown), 422, "productUnknown", false),
        (RedemptionError.purchaseRefused(.ownedByAnotherUser), 409, "ownedByAnotherUser", false),
        (RedemptionError.purchaseRefused(.transferTooSoon), 409, "transferTooSoon", true),
        (RedemptionError.purchaseRefused(.appAccountTokenMismatch), 409, "appAccountTokenMismatch", false),
        (RedemptionError.purchaseRefused(.transactionConflict), 409, "transactionConflict", false),
        (RedemptionError.userUnknown, 404, "userNotFound", false),
        (RedemptionError.userBlocked, 400, "userInvalid", false),
        (AssignmentError.refused(.productUnknown), 422, "productUnknown", false),
        (AssignmentError.refused(.transferTooSoon), 409, "transferTooSoon", true),
        (AssignmentError.originNotAccepted(.localSandbox), 422, "originNotAccepted", false),
        (LedgerError.userUnknown, 404, "userNotFound", false),
        (LedgerError.newcomersLimited(secondsToWait: 7), 429, "tooManyRequests", true),
        (BalanceError.balanceTooLow(name: "seeds", amount: 1), 409, "balanceTooLow", false),
        (BalanceError.idempotencyKeyReused, 422, "idempotencyKeyReused", false),
        (RedemptionError.subscriptionStateUnknown, 409, "subscriptionStateUnknown", false),
        (RedemptionError.refused(ProofRefusal(.purchasePending)), 422, "purchasePending", false),
        (RedemptionError.refused(.tokenPending), 422, "purchasePending", true),
        (AccountError.mailTooOften, 429, "mailTooOften", true),
        (AccountError.credentialsWrong, 401, "credentialsWrong", false),
        (CredentialError.passwordNotHashed, 503, "passwordNotHashed", true),
        (CredentialError.passwordWrong, 403, "passwordWrong", false),
        (PasswordError.passwordTooShort, 422, "passwordTooShort", false),
        (ReconciliationError.refused(status: 429, code: nil), 503, "appStoreRefused", true),
        (ReconciliationError.refused(status: 401, code: nil), 502, "appStoreRefused", false),
        (ReconciliationError.refusedByService(code: "chainUntrusted"), 502, "chainUntrusted", false),
        (CatalogError(file: "items.json", reason: "it is empty"), 500, "catalogInvalid", false),
        (StorageFault(cause: .busy, path: "/var/till"), 503, "storageBusy", true),
        (StorageFault(cause: .diskFull, path: "/var/till"), 500, "storageDiskFull", true),
        (StorageFault(cause: .damaged, path: "/var/till"), 500, "storageDamaged", false),
        (StorageFault(cause: .stopped, path: "/var/till"), 503, "storageStopped", false),
        (StorageFault(cause: .unreachable, path: "postgres://db/var/till"), 503, "storageUnreachable", true),
        (StorageFault(cause: .readOnly, path: "/var/till"), 500, "storageReadOnly", true),
        (StorageFault(cause: .readOnly, path: "postgres://db/var/till"), 503, "storageReadOnly", true),
        (StorageFault(cause: .overloaded, path: "/var/till"), 503, "tooBusy", true),
    ]

    @Test(arguments: errors.indices) func `an error has the status of its rule`(index: Int) throws {
        let (error, status, code, couldSucceedLater) = Self.errors[index]
        let problem = try #require(Problem(error))
        #expect(problem.status == status, "\(error)")
        #expect(problem.code == code)
        #expect(problem.couldSucceedLater == couldSucceedLater, "\(error)")
        // Callers do not learn the place of the database.
        #expect(!problem.detail.contains("/var/till"))
    }

    /// A kept refusal would outlast its cause.
    @Test func `only a refusal that stays until the request changes is kept for an idempotency key`() throws {
        let kept: [any Error] = [
            RedemptionError.notRedeemable, RedemptionError.refused(ProofRefusal(.signatureInvalid)),
            RedemptionError.refused(ProofRefusal(.purchasePending)), GrantError.endPassed,
        ]
        let others: [any Error] = [
            BalanceError.balanceTooLow(name: "seeds", amount: 1), RedemptionError.purchaseRefused(.productUnknown),
            RedemptionError.subscriptionStateUnknown, RedemptionError.refused(.tokenPending),
            RedemptionError.purchaseRefused(.transferTooSoon), StorageFault(cause: .stopped, path: ""),
            StorageFault(cause: .damaged, path: ""),
        ]
        for error in kept { #expect(try #require(Problem(error)).isFinal, "\(error)") }
        for error in others { #expect(try !#require(Problem(error)).isFinal, "\(error)") }
    }

    @Test func `a problem has the seconds of its rule`() throws {
        #expect(Problem(AccountError.mailTooOften.rule).headers[.retryAfter] == "3600")
        #expect(Problem(LedgerError.newcomersLimited(secondsToWait: 7).rule).headers[.retryAfter] == "7")
        #expect(try #require(Problem(StorageFault(cause: .overloaded, path: ""))).headers[.retryAfter] == "1")
        for cause in [StorageFault.Cause.unreachable, .readOnly] {
            #expect(
                try #require(Problem(StorageFault(cause: cause, path: "postgres://db/till"))).headers[.retryAfter]
                    == "5")
        }
    }

    /// A client that obeys `Retry-After` would send the request for ever.
    @Test func `a ledger that has stopped itself asks for an operator, not for another request`() throws {
        let problem = try #require(Problem(StorageFault(cause: .stopped, path: "/var/till")))
        #expect(problem.headers[.retryAfter] == nil)
        #expect(!problem.isFinal)
        #expect(problem.detail.contains("does not help before an operator has restarted the service"))
    }

    /// Callers do not learn what libpq says.
    @Test func `the reason of a database server is for the operator alone`() throws {
        let fault = StorageFault(cause: .unreachable, path: "postgres://db/till", reason: "connection refused")
        #expect(fault.message.contains("(connection refused)"))
        #expect(!(try #require(Problem(fault))).detail.contains("refused"))
    }

    @Test func `an error of Till's own says the same in a message and in a problem document`() throws {
        let refusal = ProofRefusal(.payloadInvalid, "The field price is no number.")
        #expect(refusal.message.hasSuffix("the store's format. The field price is no number."))
        #expect(try #require(Problem(RedemptionError.refused(refusal))).detail == refusal.message)
        #expect(GrantError.endPassed.message == Problem(GrantError.endPassed.rule).detail)
    }

    @Test func `each refusal has a remedy, and what is no refusal has none`() {
        for result in Redemption.Result.allCases {
            #expect((RefusalRemedy(code: result.rawValue) == nil) == result.allowsFinish, "\(result)")
            #expect(Redemption.Result.refusals.contains(result) != result.allowsFinish, "\(result)")
        }
        for reason in ProofRefusal.Reason.allCases { #expect(RefusalRemedy(code: reason.rawValue) != nil, "\(reason)") }
        #expect(RefusalRemedy(code: "notRedeemable") == nil)
    }
}
