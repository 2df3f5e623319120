import Catalog
import Foundation
import GRDB
import HTTPSupport
import Hummingbird
import Proofs

/// Retention messaging as Apple answers a correct client. Uploads are approved at once, unless the settings say otherwise.
/// `RetentionMessages.swift` shows them.
extension ServerAPIRoutes {
    private static let maximumImages = 2000
    private static let maximumMessages = 2000
    private static let approved = "APPROVED"

    func addMessaging(to group: RouterGroup<ServiceContext>) {
        addImagesAndMessages(to: group)
        let defaultMessage = "default/:product/:locale"
        write(.put, defaultMessage, group) { call, books in
            let request: DefaultConfigurationRequest = try call.body()
            let name = try Self.defaultName(call, books)
            let message = try (request.messageIdentifier ?? "").uuid(orThrow: .generalBadRequest)
            let record = try books.messaging.value(.message, message, orThrow: .messageNotFound)
            // Both have to be approved (Retention Messaging API, `MessageNotApprovedError` and `ImageNotApprovedError`).
            guard books.settings.retentionMessageState == nil else { throw ServerAPIError.messageNotApproved }
            let uploaded: UploadMessageRequestBody = try LocalRecord.value(record)
            guard uploaded.images.isEmpty || books.settings.retentionImageState == nil else {
                throw ServerAPIError.imageNotApproved
            }
            try books.messaging.set(.defaultMessage, name, message)
        }
        read(defaultMessage, group) { call, books in
            let name = try Self.defaultName(call, books)
            return [
                "messageIdentifier": try books.messaging.value(.defaultMessage, name, orThrow: .defaultMessageNotFound)
            ]
        }
        write(.delete, defaultMessage, group) { call, books in
            try books.messaging.remove(
                .defaultMessage, try Self.defaultName(call, books), orThrow: .defaultMessageNotFound)
        }
        write(.put, "realtime/url", group) { call, books in
            let request: RealtimeUrlRequest = try call.body()
            guard let text = request.realtimeURL, text.utf8.count <= 2048, let url = URL(string: text),
                url.scheme == "https" && url.host()?.isEmpty == false || url.isPlainOnThisMachine
            else { throw ServerAPIError.badRequestRealtimeUrl }
            try books.messaging.set(.realtimeURL, "", text)
        }
        read("realtime/url", group) { _, books in
            ["realtimeURL": try books.messaging.value(.realtimeURL, "", orThrow: .realtimeUrlNotFound)]
        }
        write(.delete, "realtime/url", group) { _, books in
            try books.messaging.remove(.realtimeURL, "", orThrow: .realtimeUrlNotFound)
        }
        answer(.post, "performanceTest", group) { call, books in
            let request: PerformanceTestRequest = try call.body()
            guard let identifier = request.originalTransactionId else {
                throw ServerAPIError.invalidPerformanceTestRequest
            }
            _ = try books.apiOriginalTransaction(identifier, orThrow: .invalidPerformanceTestRequest)
            let url = try books.messaging.value(.realtimeURL, "", orThrow: .realtimeUrlNotFound)
            let requestId = UUID(randomness: books.randomness).lowercasedString
            try books.messaging.set(.performanceTest, requestId, url)
            return PerformanceTestResponse(requestId: requestId)
        }
        read("performanceTest/result/:request", group) { call, books in
            let name = try call.text("request").uuid(orThrow: .invalidRequestId)
            return PerformanceTestResultResponse(
                target: try books.messaging.value(.performanceTest, name, orThrow: .performanceTestRunNotFound))
        }
    }

    private func addImagesAndMessages(to group: RouterGroup<ServiceContext>) {
        read("image/list", group) { _, books in
            let state = books.settings.retentionImageState?.rawValue ?? Self.approved
            return [
                "imageIdentifiers": try books.messaging.all(.image).map {
                    ["imageIdentifier": $0.name, "imageState": state, "imageSize": $0.value]
                }
            ]
        }
        write(.put, "image/:id", group) { call, books in
            let name = try call.text("id").uuid(orThrow: .generalBadRequest)
            guard let size = ImageSize(rawValue: call.query("imageSize") ?? ImageSize.fullSize.rawValue) else {
                throw ServerAPIError.badRequestImageSize
            }
            guard size.includes(call.bytes) else { throw ServerAPIError.invalidImage }
            let images = try books.messaging.all(.image)
            guard !images.contains(where: { $0.name == name }) else { throw ServerAPIError.imageAlreadyExists }
            guard images.count < Self.maximumImages else { throw ServerAPIError.maximumNumberOfImagesReached }
            try books.messaging.set(.image, name, size.rawValue)
        }
        write(.delete, "image/:id", group) { call, books in
            let name = try call.text("id").uuid(orThrow: .generalBadRequest)
            let isUsed = try books.messaging.all(.message).contains { _, record in
                let message: UploadMessageRequestBody = try LocalRecord.value(record)
                return message.images.contains { $0.identifier.lowercasedString == name }
            }
            guard !isUsed else { throw ServerAPIError.imageInUse }
            try books.messaging.remove(.image, name, orThrow: .imageNotFound)
        }
        read("message/list", group) { _, books in
            let state = books.settings.retentionMessageState?.rawValue ?? Self.approved
            return [
                "messageIdentifiers": try books.messaging.all(.message).map {
                    ["messageIdentifier": $0.name, "messageState": state]
                }
            ]
        }
        write(.put, "message/:id", group) { call, books in
            let message: UploadMessageRequestBody = try call.body()
            let name = try call.text("id").uuid(orThrow: .generalBadRequest)
            try message.check()
            for (image, size) in message.images {
                let uploaded = try books.messaging.value(.image, image.lowercasedString, orThrow: .imageNotFound)
                guard uploaded == size.rawValue else { throw ServerAPIError.badRequestImageSize }
            }
            let messages = try books.messaging.all(.message)
            guard !messages.contains(where: { $0.name == name }) else { throw ServerAPIError.messageAlreadyExists }
            guard messages.count < Self.maximumMessages else { throw ServerAPIError.maximumNumberOfMessagesReached }
            try books.messaging.set(.message, name, try LocalRecord.text(message))
        }
        write(.delete, "message/:id", group) { call, books in
            let name = try call.text("id").uuid(orThrow: .generalBadRequest)
            try books.messaging.remove(.message, name, orThrow: .messageNotFound)
        }
    }

    private static func defaultName(_ call: Call, _ books: Books) throws -> String {
        let product = try books.subscriptionProduct(call.text("product"))
        let locale = call.text("locale")
        guard MessagingLocale.isValid(locale) else { throw ServerAPIError.invalidLocale }
        return MessagingLocale.name(ofDefault: product, locale)
    }
}

enum MessagingLocale {
    static func isValid(_ locale: String) -> Bool {
        locale.wholeMatch(of: /[a-zA-Z]{2,3}([-_][a-zA-Z0-9]{2,8}){0,3}/) != nil
    }

    static func name(ofDefault product: String, _ locale: String) -> String { "\(product) \(locale)" }
}

extension URL {
    /// True for an http address of this machine. Apple accepts https alone, but a test has no certificate.
    fileprivate var isPlainOnThisMachine: Bool {
        scheme == "http" && ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host())
    }
}

struct UploadMessageRequestBody: Codable, Sendable {
    struct Image: Codable {
        let imageIdentifier: UUID
        let altText: String
    }

    struct BulletPoint: Codable {
        let text: String
        let imageIdentifier: UUID
        let altText: String
    }

    let header: String
    let body: String
    let image: Image?
    let headerPosition: String?
    let bulletPoints: [BulletPoint]?

    private static let maximumAltTextLength = 150

    /// Checks Apple's limits.
    func check() throws(ServerAPIError) {
        guard header.count <= 66 else { throw .headerTooLong }
        guard body.count <= 144 else { throw .bodyTooLong }
        if let image, image.altText.count > Self.maximumAltTextLength { throw .altTextTooLong }
        let points = bulletPoints ?? []
        guard points.count <= 5 else { throw .badRequestTooManyBulletPoints }
        guard points.allSatisfy({ $0.text.count <= 66 }) else {
            throw .badRequestBulletPointTextTooLong
        }
        guard points.allSatisfy({ $0.altText.count <= Self.maximumAltTextLength }) else { throw .altTextTooLong }
        guard headerPosition.map({ ["ABOVE_BODY", "ABOVE_IMAGE"].contains($0) }) ?? true else {
            throw .generalBadRequest
        }
        guard headerPosition != "ABOVE_IMAGE" || image != nil else {
            throw .badRequestAboveImageRequiresAnImage
        }
    }

    /// The images of the message, each with the size that it must have.
    var images: [(identifier: UUID, size: ImageSize)] {
        (image.map { [($0.imageIdentifier, .fullSize)] } ?? [])
            + (bulletPoints ?? []).map { ($0.imageIdentifier, .bulletPoint) }
    }
}

/// The size of an image (Retention Messaging API, `imageSize`).
enum ImageSize: String {
    case fullSize = "FULL_SIZE"
    case bulletPoint = "BULLET_POINT"

    /// True if the bytes are a PNG of the width and height that Apple asks for, as far as its head shows.
    func includes(_ png: [UInt8]) -> Bool {
        guard let size = PictureSize(png: png) else { return false }
        return switch self {
        case .fullSize: size.width == 3840 && (160...2160).contains(size.height)
        case .bulletPoint: size.width == 1024 && size.height == 1024
        }
    }
}

struct DefaultConfigurationRequest: Decodable, Sendable {
    let messageIdentifier: String?
}

struct RealtimeUrlRequest: Decodable, Sendable {
    let realtimeURL: String?
}

struct PerformanceTestRequest: Decodable, Sendable {
    let originalTransactionId: String?
}

struct PerformanceTestConfig: Encodable, Sendable {
    let maxConcurrentRequests = 10
    let totalRequests = 100
    /// In milliseconds, like the response times.
    let totalDuration = 60_000
    let responseTimeThreshold = 700
    /// In percent.
    let successRateThreshold = 98
}

struct PerformanceTestResponse: Encodable, Sendable {
    let config = PerformanceTestConfig()
    let requestId: String
}

/// The result of a performance test. It is complete at once: the store sends nothing, so nothing takes time or fails.
struct PerformanceTestResultResponse: Encodable, Sendable {
    let config = PerformanceTestConfig()
    let target: String
    let result = "PASS"
    let successRate = 100
    let numPending = 0
    let responseTimes = ["average": 0, "p50": 0, "p90": 0, "p95": 0, "p99": 0]
    let failures: [String: Int] = [:]
}

extension Books {
    var messaging: MessagingRecords { MessagingRecords(database: database) }
}

/// The SQL statements on retention messaging. They run inside the caller's transaction of the store's database.
struct MessagingRecords {
    /// The kind of a value. Names are unique within a kind.
    enum Kind: String {
        case image
        case message
        /// Named after the product and the locale.
        case defaultMessage
        /// A single value.
        case realtimeURL
        case performanceTest
    }

    let database: Database

    func value(_ kind: Kind, _ name: String, orThrow notFound: ServerAPIError) throws -> String {
        guard let known = try find(kind, name) else { throw notFound }
        return known
    }

    func find(_ kind: Kind, _ name: String) throws -> String? { try all(kind).first { $0.name == name }?.value }

    /// Each name with its value, in the order of their first insertion.
    func all(_ kind: Kind) throws -> [(name: String, value: String)] {
        try SQLRequest<Row>(
            "SELECT name, value FROM messaging WHERE kind = \(kind.rawValue) ORDER BY rowid"
        ).fetchAll(database).map { ($0["name"], $0["value"]) }
    }

    func set(_ kind: Kind, _ name: String, _ value: String) throws {
        try database.insert(
            ["kind": kind.rawValue, "name": name, "value": value], into: "messaging", replacing: "kind, name")
    }

    func remove(_ kind: Kind, _ name: String, orThrow notFound: ServerAPIError) throws {
        try database.execute(
            literal: "DELETE FROM messaging WHERE kind = \(kind.rawValue) AND name = \(name)")
        guard database.changesCount > 0 else { throw notFound }
    }
}
