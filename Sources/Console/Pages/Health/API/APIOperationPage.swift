/// The page of an operation: its parameters and answers, an example, and a form that sends it.
struct APIOperationPage {
    let operation: APIOperation
    /// The address of the service, without a path.
    let address: String

    var page: Page {
        Page(Phrase(same: operation.method + " " + operation.path), section: .health) {
            HealthTabs.api.html
            section(HTMLAttribute("lang", "en")) {
                p { data(operation.summary) }
                if let description = operation.description { p(.class("note")) { data(description) } }
            }
            p {
                Phrase("Credential:", "인증:")
                plain(" ")
                credential
            }
            h2 { Phrase("As a command", "명령으로") }
            pre(.id("curl"), .role("region"), HTMLAttribute("tabindex", "0"), .ariaLabel(Phrase("Command", "명령"))) {
                plain(CurlCommand(operation: operation, address: address).text)
            }
            div(.class("actions")) {
                button(.type("button"), HTMLAttribute("data-copy", "curl")) { Phrase("Copy", "복사") }
            }
            if operation.canBeTried { attempt }
            parameters
            if let body = operation.body { content(body) }
            answers
            p { a(.href(ConsolePath("health", "api"))) { Phrase("All operations", "모든 작업") } }
        }
    }

    private var credential: HTML {
        HTML {
            if operation.credentials.isEmpty { Shown.badge(Phrase("none", "없음")) }
            for credential in operation.credentials {
                switch credential {
                case .apiKey: Shown.badge(Phrase("API key", "API 키"))
                case .userToken: Shown.badge(Phrase("token of a user", "사용자 토큰"))
                }
            }
        }
    }

    /// The form that the script shows. The field of the key has no name, so that no browser puts the key into an address.
    private var attempt: HTML {
        section(.class("card"), HTMLAttribute("hidden"), HTMLAttribute("data-scripted")) {
            h2 { Phrase("Try it", "보내 보기") }
            form(HTMLAttribute("data-request", operation.path), HTMLAttribute("autocomplete", "off")) {
                for parameter in operation.parameters where parameter.location != "header" { field(parameter) }
                if !operation.credentials.isEmpty { key }
                button(.class("primary")) { Phrase("Send", "보내기") }
            }
            p(.role("status"), HTMLAttribute("data-status")) {}
            pre(
                .role("region"), HTMLAttribute("data-answer"), HTMLAttribute("hidden"), HTMLAttribute("tabindex", "0"),
                .ariaLabel(Phrase("Answer", "응답"))
            ) {}
        }
    }

    private func field(_ parameter: APIOperation.Parameter) -> HTML {
        let identifier = parameter.location + "-" + parameter.name
        return div(.class("field")) {
            label(.for(identifier)) { plain(parameter.name) }
            if parameter.values.isEmpty {
                input(
                    .type("text"), .id(identifier), HTMLAttribute("data-in", parameter.location), .name(parameter.name),
                    .value(parameter.location == "path" ? parameter.example : ""), HTMLAttribute("maxlength", "1366"),
                    parameter.isRequired || parameter.location == "path" ? .required : nil)
            } else {
                select(.id(identifier), HTMLAttribute("data-in", parameter.location), .name(parameter.name)) {
                    if !parameter.isRequired { option(.value("")) { plain("–") } }
                    for value in parameter.values { option(.value(value)) { plain(value) } }
                }
            }
        }
    }

    private var key: HTML {
        div(.class("field")) {
            label(.for("key")) {
                operation.credentials.contains(.apiKey) ? Phrase("API key", "API 키") : Phrase("Token", "토큰")
            }
            input(
                .type("password"), .id("key"), HTMLAttribute("data-key"), HTMLAttribute("autocomplete", "off"),
                HTMLAttribute("maxlength", "4096"), HTMLAttribute("aria-describedby", "key-note"))
            small(.id("key-note")) {
                Phrase(
                    "The browser sends it to this service alone, and the console does not store it.",
                    "브라우저가 이 서비스에만 보내며, 콘솔은 저장하지 않습니다.")
            }
        }
    }

    private var parameters: HTML {
        HTML {
            h2 { Phrase("Parameters", "매개변수") }
            Listing.table(
                Phrase("Parameters", "매개변수"),
                columns: [
                    Phrase("Name", "이름"), Phrase("In", "위치"), Phrase("Required", "필수"), Phrase("Type", "형식"),
                    Phrase("Description", "설명"),
                ],
                rows: operation.parameters.map { parameter in
                    [
                        Shown.identifier(parameter.name), plain(parameter.location),
                        HTML { parameter.isRequired ? Phrase("yes", "예") : Phrase("no", "아니요") },
                        plain(parameter.type),
                        span(HTMLAttribute("lang", "en")) { data(parameter.description) },
                    ]
                },
                empty: Phrase("There are none.", "없습니다."))
        }
    }

    private func content(_ body: APIOperation.Body) -> HTML {
        HTML {
            h2 { Phrase("Body", "본문") }
            p { Shown.identifier(body.type) }
            if let schema = body.schema {
                details {
                    summary { Phrase("Schema", "스키마") }
                    pre(HTMLAttribute("lang", "en")) { plain(schema) }
                }
            }
        }
    }

    private var answers: HTML {
        HTML {
            h2 { Phrase("Answers", "응답") }
            Listing.table(
                Phrase("Answers", "응답"),
                columns: [Phrase("Status", "상태 코드"), Phrase("Type", "형식"), Phrase("Description", "설명")],
                rows: operation.answers.map { answer in
                    [
                        plain(answer.status), plain(answer.types.joined(separator: ", ")),
                        span(HTMLAttribute("lang", "en")) { data(answer.description) },
                    ]
                },
                empty: Phrase("There are none.", "없습니다."))
        }
    }
}
