// A back end for an app that sells in the App Store and on Google Play. ../README.md describes its routes and settings.
package main

import (
	"cmp"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Put your own accounts here, with hashes of passwords. Till has the same names.
var passwords = map[string]string{"alice": "correct horse", "bob": "battery staple"}

type garden struct {
	issuer, audience, tillKey string
	signingKey                ed25519.PrivateKey
	tillURL                   *url.URL
	webhookKey                []byte
	mutex                     sync.Mutex
	messages                  map[string]message // By id. Put a table of your database here.
}

func main() {
	for _, name := range []string{"PORT", "ISSUER", "AUDIENCE", "TILL_URL", "TILL_API_KEY", "TILL_WEBHOOK_SECRET"} {
		if os.Getenv(name) == "" {
			log.Fatalf("Set %s; ../README.md describes it.", name)
		}
	}
	var jwk struct{ D string }
	jwkError := json.Unmarshal([]byte(os.Getenv("SIGNING_KEY")), &jwk)
	seed, seedError := base64.RawURLEncoding.DecodeString(jwk.D)
	tillURL, urlError := url.Parse(os.Getenv("TILL_URL"))
	webhookKey, webhookError := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("TILL_WEBHOOK_SECRET"), "whsec_"))
	if err := errors.Join(jwkError, seedError, urlError, webhookError); err != nil {
		log.Fatalf("A setting of ../README.md is wrong: %v", err)
	}
	g := &garden{
		issuer: os.Getenv("ISSUER"), audience: os.Getenv("AUDIENCE"), signingKey: ed25519.NewKeyFromSeed(seed),
		tillURL: tillURL, tillKey: os.Getenv("TILL_API_KEY"), webhookKey: webhookKey, messages: map[string]message{},
	}
	http.HandleFunc("POST /sessions", g.logIn)
	http.HandleFunc("POST /purchases", g.authenticated(g.till("transactions")))
	http.HandleFunc("GET /items", g.authenticated(g.till("items")))
	http.HandleFunc("GET /activity", g.authenticated(g.activity))
	http.HandleFunc("POST /hooks", g.receive)
	limited := http.MaxBytesHandler(http.DefaultServeMux, 1<<20)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), limited))
}

func (g *garden) logIn(w http.ResponseWriter, r *http.Request) {
	var credentials struct{ Name, Password string }
	if err := json.NewDecoder(r.Body).Decode(&credentials); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	password, known := passwords[credentials.Name]
	if !known || !hmac.Equal([]byte(password), []byte(credentials.Password)) {
		http.Error(w, "The name or the password is wrong.", http.StatusUnauthorized)
		return
	}
	answer(w, map[string]string{"token": g.token(credentials.Name)})
}

// claims are those of a user's token (RFC 7519), which this back end and Till accept.
type claims struct {
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	User     string `json:"sub"`
	EndsAt   int64  `json:"exp"`
}

func (g *garden) token(user string) string {
	content, err := json.Marshal(claims{g.issuer, g.audience, user, time.Now().Add(time.Hour).Unix()})
	if err != nil {
		panic(err) // No text or number is refused.
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"EdDSA","typ":"JWT"}`)) + "." + encode(content)
	return signed + "." + encode(ed25519.Sign(g.signingKey, []byte(signed)))
}

// user returns the user of a token. Nothing is read from a token before its signature is verified.
func (g *garden) user(token string) (string, error) {
	head, rest, _ := strings.Cut(token, ".")
	payload, end, _ := strings.Cut(rest, ".")
	signature, err := base64.RawURLEncoding.DecodeString(end)
	if err != nil || !ed25519.Verify(g.signingKey.Public().(ed25519.PublicKey), []byte(head+"."+payload), signature) {
		return "", errors.New("the token is missing or not valid")
	}
	content, err := base64.RawURLEncoding.DecodeString(payload)
	var claims claims
	if err := errors.Join(err, json.Unmarshal(content, &claims)); err != nil {
		return "", err
	}
	if claims.Issuer != g.issuer || claims.Audience != g.audience || claims.EndsAt <= time.Now().Unix() {
		return "", errors.New("the token has expired")
	}
	return claims.User, nil
}

// authenticated answers a request that has a user's token, with the user as a value of its path.
func (g *garden) authenticated(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user, err := g.user(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if err != nil {
			http.Error(w, "Log in: "+err.Error()+".", http.StatusUnauthorized)
			return
		}
		r.SetPathValue("user", user)
		next(w, r)
	}
}

// till passes a user's request on to Till. The app finishes a purchase if mayFinish is true: else the store delivers it again.
func (g *garden) till(resource string) http.HandlerFunc {
	proxy := httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Path = "/v1/users/" + r.In.PathValue("user") + "/" + resource
			r.Out.URL.RawQuery = url.Values{"issuer": {g.issuer}}.Encode()
			r.SetURL(g.tillURL)
			r.Out.Header.Set("Authorization", "Bearer "+g.tillKey)
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden {
				return errors.New("till refuses TILL_API_KEY")
			}
			return nil
		},
	}
	return proxy.ServeHTTP
}

// receive keeps a message of Till's (standardwebhooks.com). One that comes again changes nothing.
func (g *garden) receive(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	id, timestamp := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	mac := hmac.New(sha256.New, g.webhookKey)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, content)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// While the secret changes, a message has a signature by each.
	isSigned := slices.ContainsFunc(strings.Fields(r.Header.Get("webhook-signature")), func(signature string) bool {
		return hmac.Equal([]byte(signature), []byte(expected))
	})
	seconds, timeError := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || timeError != nil || !isSigned || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		http.Error(w, "The message is too old, or not signed with the webhook's secret.", http.StatusUnauthorized)
		return
	}
	received := message{content: content}
	if err := json.Unmarshal(content, &received); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.messages[id] = received
	w.WriteHeader(http.StatusNoContent)
}

type message struct {
	content []byte
	Data    struct {
		Number int
		User   struct{ Issuer, Name string }
	}
}

func (m message) MarshalJSON() ([]byte, error) { return m.content, nil }

// activity lists what has happened to the user's purchases. Messages can come in another order than that of their numbers.
func (g *garden) activity(w http.ResponseWriter, r *http.Request) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	byNumber := func(one, other message) int { return cmp.Compare(one.Data.Number, other.Data.Number) }
	activity := slices.SortedFunc(maps.Values(g.messages), byNumber)
	answer(w, slices.DeleteFunc(activity, func(each message) bool {
		return each.Data.User.Issuer != g.issuer || each.Data.User.Name != r.PathValue("user")
	}))
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value) // Fails only if the client has gone.
}
