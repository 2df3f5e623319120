import Catalog
import Foundation
import GRDB
import Proofs

/// Retention messaging as Apple answers a correct client. Uploads are approved at once, and no customer sees them.
extension AppStoreServerAPI {
    /// Apple's limits.
    private static let maximumImages = 2000
    private static let maximumMessages = 2000
    private static let maximumHeaderLength = 66
    private static let maximumBodyLength = 144
    private static let maximumAltTextLength = 150
    private static let maximumBulletPoints = 5
    private static let maximumBulletPointLength = 66
    private static let approved = "APPROVED"

    /// `PUT /inApps/v1/messaging/image/{imageIdentifier}`
    func uploadImage(_ identifier: String, _ png: [UInt8], size: String?) throws {
        let name = try Self.uuid(identifier, orThrow: .generalBadRequest)
        guard let size = ImageSize(rawValue: size ?? ImageSize.fullSize.rawValue) else {
            throw ServerAPIError.badRequestImageSize
        }
        guard size.includes(png) else { throw ServerAPIError.invalidImage }
        try write { books in
            guard try books.messaging.all(.image).allSatisfy({ $0.name != name }) else {
                throw ServerAPIError.imageAlreadyExists
            }
            guard try books.messaging.all(.image).count < Self.maximumImages else {
                throw ServerAPIError.maximumNumberOfImagesReached
            }
            try books.messaging.set(.image, name, size.rawValue)
        }
    }

    /// `DELETE /inApps/v1/messaging/image/{imageIdentifier}`
    func deleteImage(_ identifier: String) throws {
        let name = try Self.uuid(identifier, orThrow: .generalBadRequest)
        try write { books in
            let isUsed = try books.messaging.all(.message).contains { _, record in
                let message: UploadMessageRequestBody = try StoreRecord.value(record)
                return message.images.contains { $0.identifier.lowercasedString == name }
            }
            guard !isUsed else { throw ServerAPIError.imageInUse }
            try books.messaging.remove(.image, name, orThrow: .imageNotFound)
        }
    }

    /// `GET /inApps/v1/messaging/image/list`
    func imageList() throws -> [String: [[String: String]]] {
        try read { books in
            [
                "imageIdentifiers": try books.messaging.all(.image).map {
                    ["imageIdentifier": $0.name, "imageState": Self.approved, "imageSize": $0.value]
                }
            ]
        }
    }

    /// `PUT /inApps/v1/messaging/message/{messageIdentifier}`
    func uploadMessage(_ identifier: String, _ message: UploadMessageRequestBody) throws {
        let name = try Self.uuid(identifier, orThrow: .generalBadRequest)
        try Self.check(message)
        try write { books in
            for (image, size) in message.images {
                let uploaded = try books.messaging.value(.image, image.lowercasedString, orThrow: .imageNotFound)
                guard uploaded == size.rawValue else { throw ServerAPIError.badRequestImageSize }
            }
            guard try books.messaging.all(.message).allSatisfy({ $0.name != name }) else {
                throw ServerAPIError.messageAlreadyExists
            }
            guard try books.messaging.all(.message).count < Self.maximumMessages else {
                throw ServerAPIError.maximumNumberOfMessagesReached
            }
            try books.messaging.set(.message, name, try StoreRecord.text(message))
        }
    }

    /// `DELETE /inApps/v1/messaging/message/{messageIdentifier}`
    func deleteMessage(_ identifier: String) throws {
        let name = try Self.uuid(identifier, orThrow: .generalBadRequest)
        try write { try $0.messaging.remove(.message, name, orThrow: .messageNotFound) }
    }

    /// `GET /inApps/v1/messaging/message/list`
    func messageList() throws -> [String: [[String: String]]] {
        try read { books in
            [
                "messageIdentifiers": try books.messaging.all(.message).map {
                    ["messageIdentifier": $0.name, "messageState": Self.approved]
                }
            ]
        }
    }

    /// `PUT /inApps/v1/messaging/default/{productId}/{locale}`
    func configureDefaultMessage(_ productId: String, _ locale: String, _ request: DefaultConfigurationRequest) throws {
        let name = try defaultName(productId, locale)
        let message = try Self.uuid(request.messageIdentifier ?? "", orThrow: .generalBadRequest)
        try write { books in
            _ = try books.messaging.value(.message, message, orThrow: .messageNotFound)
            try books.messaging.set(.defaultMessage, name, message)
        }
    }

    /// `GET /inApps/v1/messaging/default/{productId}/{locale}`
    func defaultMessage(_ productId: String, _ locale: String) throws -> [String: String] {
        let name = try defaultName(productId, locale)
        return try read {
            ["messageIdentifier": try $0.messaging.value(.defaultMessage, name, orThrow: .defaultMessageNotFound)]
        }
    }

    /// `DELETE /inApps/v1/messaging/default/{productId}/{locale}`
    func deleteDefaultMessage(_ productId: String, _ locale: String) throws {
        let name = try defaultName(productId, locale)
        try write { try $0.messaging.remove(.defaultMessage, name, orThrow: .defaultMessageNotFound) }
    }

    /// `PUT /inApps/v1/messaging/realtime/url`
    func configureRealtimeURL(_ request: RealtimeUrlRequest) throws {
        guard let text = request.realtimeURL, text.utf8.count <= 2048, let url = URL(string: text),
            url.scheme == "https", url.host()?.isEmpty == false
        else { throw ServerAPIError.badRequestRealtimeUrl }
        try write { try $0.messaging.set(.realtimeURL, "", text) }
    }

    /// `GET /inApps/v1/messaging/realtime/url`
    func realtimeURL() throws -> [String: String] {
        try read { ["realtimeURL": try $0.messaging.value(.realtimeURL, "", orThrow: .realtimeUrlNotFound)] }
    }

    /// `DELETE /inApps/v1/messaging/realtime/url`
    func deleteRealtimeURL() throws {
        try write { try $0.messaging.remove(.realtimeURL, "", orThrow: .realtimeUrlNotFound) }
    }

    /// `POST /inApps/v1/messaging/performanceTest`
    func initiatePerformanceTest(_ request: PerformanceTestRequest) throws -> PerformanceTestResponse {
        try write { books in
            guard let identifier = request.originalTransactionId else {
                throw ServerAPIError.invalidPerformanceTestRequest
            }
            _ = try books.apiOriginalTransaction(identifier, orThrow: .invalidPerformanceTestRequest)
            let url = try books.messaging.value(.realtimeURL, "", orThrow: .realtimeUrlNotFound)
            let requestId = UUID(randomness: books.randomness).lowercasedString
            try books.messaging.set(.performanceTest, requestId, url)
            return PerformanceTestResponse(requestId: requestId)
        }
    }

    /// `GET /inApps/v1/messaging/performanceTest/result/{requestId}`
    func performanceTestResults(_ requestId: String) throws -> PerformanceTestResultResponse {
        let name = try Self.uuid(requestId, orThrow: .invalidRequestId)
        return try read {
            PerformanceTestResultResponse(
                target: try $0.messaging.value(.performanceTest, name, orThrow: .performanceTestRunNotFound))
        }
    }

    private static func check(_ message: UploadMessageRequestBody) throws(ServerAPIError) {
        guard message.header.count <= maximumHeaderLength else { throw .headerTooLong }
        guard message.body.count <= maximumBodyLength else { throw .bodyTooLong }
        if let image = message.image, image.altText.count > maximumAltTextLength { throw .altTextTooLong }
        let points = message.bulletPoints ?? []
        guard points.count <= maximumBulletPoints else { throw .badRequestTooManyBulletPoints }
        guard points.allSatisfy({ $0.text.count <= maximumBulletPointLength }) else {
            throw .badRequestBulletPointTextTooLong
        }
        guard points.allSatisfy({ $0.altText.count <= maximumAltTextLength }) else { throw .altTextTooLong }
        guard message.headerPosition.map({ ["ABOVE_BODY", "ABOVE_IMAGE"].contains($0) }) ?? true else {
            throw .generalBadRequest
        }
        guard message.headerPosition != "ABOVE_IMAGE" || message.image != nil else {
            throw .badRequestAboveImageRequiresAnImage
        }
    }

    private func defaultName(_ productId: String, _ locale: String) throws(ServerAPIError) -> String {
        let product = try subscriptionProduct(productId)
        guard locale.wholeMatch(of: /[a-zA-Z]{2,3}([-_][a-zA-Z0-9]{2,8}){0,3}/) != nil else { throw .invalidLocale }
        return "\(product) \(locale)"
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
    struct ResponseTimes: Encodable, Sendable {
        let average = 0
        let p50 = 0
        let p90 = 0
        let p95 = 0
        let p99 = 0
    }

    let config = PerformanceTestConfig()
    let target: String
    let result = "PASS"
    let successRate = 100
    let numPending = 0
    let responseTimes = ResponseTimes()
    let failures: [String: Int] = [:]
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
        guard let known = try all(kind).first(where: { $0.name == name }) else { throw notFound }
        return known.value
    }

    /// Each name with its value, in the order of their first insertion.
    func all(_ kind: Kind) throws -> [(name: String, value: String)] {
        try Row.fetchAll(
            database, sql: "SELECT name, value FROM messaging WHERE kind = ? ORDER BY rowid",
            arguments: [kind.rawValue]
        ).map { ($0["name"], $0["value"]) }
    }

    func set(_ kind: Kind, _ name: String, _ value: String) throws {
        try database.insert(
            ["kind": kind.rawValue, "name": name, "value": value], into: "messaging", replacing: "kind, name")
    }

    func remove(_ kind: Kind, _ name: String, orThrow notFound: ServerAPIError) throws {
        try database.execute(
            sql: "DELETE FROM messaging WHERE kind = ? AND name = ?", arguments: [kind.rawValue, name])
        guard database.changesCount > 0 else { throw notFound }
    }
}
