import AppStoreClient
import Catalog
import Commerce
import Entitlements
import HTTPSupport
import Ledger
import Logging
import Receipts
import ServiceLifecycle

/// What the operator tells the App Store about customers who want their money back. There is one only where these have
/// consented to it (App Store Server API, "Send Consumption Information").
public struct ConsumptionAnswer: Sendable {
    public let refundPreference: RefundPreference?
    public let sampleContentProvided: Bool

    /// - Parameters:
    ///   - refundPreference: nil for none.
    ///   - sampleContentProvided: Whether customers could try before they bought.
    public init(refundPreference: RefundPreference?, sampleContentProvided: Bool) {
        self.refundPreference = refundPreference
        self.sampleContentProvided = sampleContentProvided
    }
}

/// Answers what the App Store asks about customers who want their money back (`CONSUMPTION_REQUEST`), while it waits for an
/// answer. Questions are kept in the ledger, so that one that came before a crash is answered after it.
public struct ConsumptionResponder: Service {
    private static let pageSize = 100
    /// How often it is looked for questions.
    private static let interval = Duration.seconds(1)
    /// How long it waits when the App Store takes no answers.
    private static let retryInterval = Duration.seconds(60)

    private let service: EntitlementService
    private let app: App
    private let client: AppStoreServerClient
    private let origins: Set<Origin>
    private let answer: ConsumptionAnswer
    private let metrics: ServiceMetrics
    private let logger: Logger

    /// - Parameters:
    ///   - app: The app of the client's key.
    ///   - origins: Whose purchases the App Store at the client's address knows.
    public init(
        service: EntitlementService,
        app: App,
        client: AppStoreServerClient,
        origins: Set<Origin>,
        answer: ConsumptionAnswer,
        metrics: ServiceMetrics,
        logger: Logger
    ) {
        self.service = service
        self.app = app
        self.client = client
        self.origins = origins
        self.answer = answer
        self.metrics = metrics
        self.logger = logger
    }

    /// Answers until it is told to stop.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                var pause = Self.interval
                do {
                    try await answerAll()
                } catch {
                    guard !Task.isCancelled else { return }
                    let code = (error as? any CodedError)?.code ?? Problem.unexpected.code
                    metrics.countConsumptionAnswer("failed", code: code)
                    logger.error("a question of the App Store is not answered yet", metadata: ["code": "\(code)"])
                    pause = Self.retryInterval
                }
                // Told to stop, it stops as it should.
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// One that is not taken keeps none of the others waiting.
    private func answerAll() async throws {
        while true {
            let requests = try await service.openConsumptionRequests(
                of: origins, in: app.bundleIdentifier, limit: Self.pageSize)
            var failure: ReconciliationError?
            for request in requests {
                do {
                    try await answer(request)
                } catch let error as ReconciliationError where error.isAboutOneRequest {
                    failure = error
                }
            }
            if let failure { throw failure }
            if requests.count < Self.pageSize { return }
        }
    }

    private func answer(_ request: OpenConsumptionRequest) async throws {
        do {
            try await client.sendConsumptionInformation(
                AppStoreServerClient.ConsumptionRequest(
                    customerConsented: true,
                    deliveryStatus: request.isRedeemed ? .delivered : .undeliveredOther,
                    sampleContentProvided: answer.sampleContentProvided, refundPreference: answer.refundPreference),
                of: request.transactionIdentifier)
            metrics.countConsumptionAnswer("accepted")
        } catch {
            guard error.isFinal else { throw error }
            // It would be refused again.
            metrics.countConsumptionAnswer("refused", code: error.code)
            logger.warning("the App Store refuses an answer", metadata: ["error": "\(error.message)"])
        }
        try await service.settle(request)
    }
}
