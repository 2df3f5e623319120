import Catalog
import Foundation

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

package struct GetImageListResponse: Encodable, Sendable {
    package struct Item: Encodable, Sendable {
        let imageIdentifier: String
        let imageState: String
        let imageSize: String
    }

    let imageIdentifiers: [Item]
}

package struct GetMessageListResponse: Encodable, Sendable {
    package struct Item: Encodable, Sendable {
        package let messageIdentifier: String
        let messageState: String
    }

    let messageIdentifiers: [Item]
}

struct DefaultConfigurationRequest: Decodable, Sendable {
    let messageIdentifier: String?
}

struct DefaultConfigurationResponse: Encodable, Sendable {
    let messageIdentifier: String
}

struct RealtimeUrlRequest: Decodable, Sendable {
    let realtimeURL: String?
}

struct RealtimeUrlResponse: Encodable, Sendable {
    let realtimeURL: String
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
